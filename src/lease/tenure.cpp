#include "lease/tenure.hpp"

#include "lease/delivery.hpp"
#include "lease/holds.hpp"
#include "lease/lease_group.hpp"
#include "lease/loss_message.hpp"

#include <utility>
#include <vector>

namespace holdfast::detail {

namespace {

error_code why_not(lease_state state) {
    return state == lease_state::lost ? errc::lease_lost : errc::not_held;
}

}  // namespace

tenure::tenure(
    holds& all,
    std::shared_ptr<hold> over,
    fencing_token token,
    lease_fsm const& fsm,
    time_point since,
    guarded_executor const& holder_executor
)
    : all_{all},
      hold_{std::move(over)},
      token_{token.value},
      since_{since},
      fsm_{fsm},
      shares_{*this, holder_executor} {}

void tenure::raise_token(fencing_token to) noexcept {
    auto known = token_.load();
    while ((known & ~of_quorum) <= to.value &&
           !token_.compare_exchange_weak(known, to.value | of_quorum)) {
    }
}

lease_state tenure::look(time_point now) const noexcept {
    if (hold_->client().closed()) {
        fsm_.on_client_stopped(now);
    }
    return fsm_.look(now);
}

template <class Change>
auto tenure::apply(Change change, std::optional<time_point> at) {
    std::unique_lock guard{mutex_};
    // What other threads have seen is not later.
    auto const now = at ? *at : lease_clock::now();
    bool const doubted = fsm_.in_doubt();
    auto const value = change(fsm_, now);
    auto const state = look(now);
    // mutant: loss-not-told
    bool const lost = state == lease_state::lost && !std::exchange(loss_told_, true);
    auto const reason = fsm_.loss();
    guard.unlock();
    if (!doubted && state == lease_state::in_doubt) {
        hold_->client().tell_observer([this](observer& told) {
            told.on_doubt({hold_->on()->lock, token()});
        });
    }
    if (lost) {
        on_lost(reason);
    }
    return value;
}

template <class Change>
void tenure::note(Change change) {
    apply([&](lease_fsm& fsm, time_point now) { return change(fsm, now), true; });
}

// The keep-alive tells the watchers, on the holder's executor. A holder's context may be destroyed
// at any time, and the keep-alive is told of that.
void tenure::on_lost(loss_reason reason) {
    loss_watchers::list told;
    {
        std::lock_guard const guard{mutex_};
        told = watchers_.take_those_not_kept();
    }
    loss_watchers::tell(told, {}, reason);
    shares_.stop_keeping_unwatched();
    report_loss(hold_->share_client(), hold_->on(), token(), reason);
}

void tenure::tell_of_loss(lease_share const& share) {
    loss_watchers::list told;
    loss_reason reason{};
    {
        std::lock_guard const guard{mutex_};
        if (!share.released && loss_told_) {
            reason = fsm_.loss();
            told = watchers_.take_those_of(share);
        }
    }
    loss_watchers::tell(told, {}, reason);
}

lease tenure::make_further_lease(guarded_executor const& holder_executor) {
    auto made = lease_shares::make_further(shared_from_this(), holder_executor);
    bool renews = false;
    {
        std::lock_guard const guard{mutex_};
        if (shares_.empty() || !is_alive(look())) {
            made->released = true;
            return {};
        }
        shares_.add(*made);
        renews = shares_.renewing() == made.get();
    }
    lease joined{std::move(made)};
    if (renews) {
        // The contexts of those before it are gone.
        shares_.start_keep_alive();
    }
    return joined;
}

lease_state tenure::state(lease_share const& asking) const noexcept {
    std::lock_guard const guard{mutex_};
    return asking.released ? lease_state::empty : look();
}

bool tenure::alive(time_point now) const noexcept {
    std::lock_guard const guard{mutex_};
    return is_alive(look(now));
}

loss_reason tenure::loss(lease_share const& asking) const noexcept {
    std::lock_guard const guard{mutex_};
    if (asking.released) {
        return asking.lost;
    }
    return look() == lease_state::lost ? fsm_.loss() : loss_reason::none;
}

// What is due, and what is to be slept for after it. A renewal is on its way.
lease_fsm::step tenure::take_step(lease_share& share) {
    using kind = lease_fsm::step_kind;
    std::vector<std::weak_ptr<lease_group>> groups;
    auto const due = apply([&](lease_fsm& fsm, time_point now) {
        if (share.released) {
            return lease_fsm::step{kind::finish};
        }
        if (shares_.renewing() != &share) {
            return fsm.watch(now);
        }
        auto next = fsm.next(now);
        if (next.kind == kind::renew) {
            fsm.on_renewal_sent(now);
            next = fsm.next(now);
            next.kind = kind::renew;
            groups = shares_.groups();
        }
        return next;
    });
    if (due.kind == kind::renew) {
        all_.renewing().hand_in(shared_from_this());
        for (auto const& each : groups) {
            if (auto const group = each.lock()) {
                group->on_renewal();
            }
        }
    } else if (due.kind == kind::finish) {
        tell_of_loss(share);
    }
    return due;
}

void tenure::on_executor_gone(lease_share& share) noexcept {
    loss_watchers::list dropped;
    guarded_executor executor;
    std::shared_ptr<keep_alive> keeper;
    bool renewed = false;
    {
        std::lock_guard const guard{mutex_};
        renewed = shares_.renewing() == &share;
        std::swap(executor, share.holder_executor);
        keeper.swap(share.kept_by);
        dropped = watchers_.take_those_of(share);
    }
    if (renewed && !hold_->client().gone()) {
        try {
            shares_.renew_elsewhere();
        } catch (...) {
            // A destructor calls this. The lease ends at its deadline: nothing renews it.
        }
    }
}

void tenure::on_renewed(lease_fsm::renewal const& what) {
    // It overslept.
    if (apply([&](lease_fsm& fsm, time_point now) { return fsm.on_renewed(what, now); })) {
        shares_.wake_renewing();
    }
}

void tenure::notice_loss(time_point now) {
    apply([](lease_fsm&, time_point) { return true; }, now);
}

void tenure::on_not_ours(loss_reason reason) {
    note([&](lease_fsm& fsm, time_point now) { fsm.on_not_ours(reason, now); });
    all_.on_not_ours(*hold_);
}

void tenure::on_renewal_failed() {
    note([](lease_fsm& fsm, time_point now) {
        fsm.on_renewal_failed(fsm.terms().request_timeout / 4, now);
    });
    shares_.wake_renewing();
}

void tenure::on_disconnected() {
    note([](lease_fsm& fsm, time_point now) { fsm.on_disconnected(now); });
}

void tenure::on_connected(nanos delay) {
    note([&](lease_fsm& fsm, time_point now) { fsm.on_connected(delay, now); });
    shares_.wake_renewing();
}

bool tenure::on_failed_over() {
    auto const needs_question = apply([](lease_fsm& fsm, time_point now) {
        fsm.on_failed_over(now);
        return is_alive(fsm.look(now)) && !fsm.renews();
    });
    shares_.wake_renewing();
    return needs_question;
}

void tenure::on_verified() {
    note([](lease_fsm& fsm, time_point now) { fsm.on_verified(now); });
}

void tenure::on_new_limits(lease_terms const& limits) {
    note([&](lease_fsm& fsm, time_point now) { fsm.on_new_limits(limits, now); });
    shares_.wake_renewing();
}

void tenure::on_client_stopped() {
    note([](lease_fsm& fsm, time_point now) { fsm.on_client_stopped(now); });
}

void tenure::renew(std::shared_ptr<lease_share> asking, plain_handler handler) {
    auto& client = hold_->client();
    if (client.gone()) {
        return;
    }
    auto caller =
        std::make_shared<pending_handler<error_code>>(std::move(handler), client.executor());
    if (auto const now = state(*asking); !is_alive(now)) {
        caller->complete(why_not(now));
        return;
    }
    abort_on_cancel(caller, hold_->share_client());
    hold_->renew(
        shared_from_this(),
        [self = shared_from_this(), asking = std::move(asking), caller](error_code ec) {
            auto const now = self->state(*asking);
            caller->complete(is_alive(now) ? ec : why_not(now));
        }
    );
}

// Ends ownership by the lease.
tenure::parting tenure::leave(lease_share& leaving, time_point now, bool& was_lost) {
    loss_watchers::list left;
    guarded_executor executor;
    std::shared_ptr<keep_alive> keeper;
    bool renewed = false;
    auto const part = [&](lease_fsm& fsm, time_point) {
        if (leaving.released) {
            return parting::none;
        }
        was_lost = look(now) == lease_state::lost;
        if (was_lost && !loss_told_) {
            return parting::loss_untold;
        }
        renewed = shares_.renewing() == &leaving;
        leaving.released.store(true, std::memory_order_release);
        leaving.lost = was_lost ? fsm.loss() : loss_reason::none;
        keeper.swap(leaving.kept_by);
        // Now, and not when the client gets there: the holder's context may be gone by then.
        std::swap(executor, leaving.holder_executor);
        shares_.remove(leaving);
        // mutant: one-lease-of-an-owner-frees-all
        bool const last = shares_.empty();
        if (last) {
            fsm.on_release(now);
        }
        if (was_lost || !last || executor.context_is_going()) {
            left = watchers_.take_those_of(leaving);
        }
        return last ? parting::last : parting::one_of_several;
    };
    auto how = apply(part, now);
    if (how == parting::loss_untold) {
        how = apply(part, now);  // the first one told of it
    }
    if (keeper) {
        keeper->remove(leaving);
    }
    // A context that is being destroyed drops its watchers. They cannot be told any more.
    if (!executor.context_is_going()) {
        loss_watchers::tell(left, was_lost ? error_code{} : errc::not_held, leaving.lost);
    }
    if (renewed && how == parting::one_of_several) {
        shares_.renew_elsewhere();
    }
    return how;
}

std::optional<given_back> tenure::begin_release(
    std::shared_ptr<lease_share> const& asking,
    plain_handler handler
) {
    auto& client = hold_->client();
    if (client.gone()) {
        abandon(*asking);
        return {};
    }
    auto caller =
        std::make_shared<pending_handler<error_code>>(std::move(handler), client.executor());
    auto const now = lease_clock::now();
    bool was_lost = false;
    switch (leave(*asking, now, was_lost)) {
        case parting::none:
        case parting::loss_untold: caller->complete(errc::not_held); break;
        case parting::one_of_several:
            caller->complete(was_lost ? make_error_code(errc::lease_lost) : error_code{});
            break;
        case parting::last:
            abort_on_cancel(caller, hold_->share_client());
            return given_back{shared_from_this(), now, was_lost, std::move(caller)};
    }
    return {};
}

void tenure::release(std::shared_ptr<lease_share> const& asking, plain_handler handler) {
    if (auto rest = begin_release(asking, std::move(handler))) {
        hold_->client().enter_strand(*std::move(rest));
    }
}

void tenure::abandon(lease_share& dropped) noexcept {
    if (dropped.released) {
        return;
    }
    if (delivery::discards(&dropped)) {
        report_discarded_lease(hold_->share_client(), hold_->on());
    }
    try {
        auto const now = lease_clock::now();
        bool was_lost = false;
        if (leave(dropped, now, was_lost) == parting::last && !hold_->client().gone()) {
            // mutant: dropped-lease-not-released
            hold_->client().enter_strand(given_back{shared_from_this(), now, was_lost});
        }
    } catch (...) {
        // A destructor calls this. The lease ends at its deadline: nothing renews it.
    }
}

void given_back::operator()() {
    auto& all = of->all_;
    all.give_back(std::move(of), at, was_lost, std::move(caller));
}

void tenure::on_released(loss_reason lost) {
    lost = hold_->reason_of(lost);
    loss_watchers::list left;
    bool report = false;
    {
        std::lock_guard const guard{mutex_};
        left = watchers_.take_all();
        if (lost != loss_reason::none && !std::exchange(loss_told_, true)) {
            report = true;
            fsm_.on_found_lost(lost, lease_clock::now());
            if (auto* const last = shares_.last()) {
                last->lost = lost;
            }
        }
    }
    if (report) {
        loss_watchers::tell(left, {}, lost);
        report_loss(hold_->share_client(), hold_->on(), token(), lost);
    } else {
        loss_watchers::tell(left, errc::not_held, loss_reason::none);
    }
}

}  // namespace holdfast::detail
