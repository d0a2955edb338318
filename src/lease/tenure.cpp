#include "lease/tenure.hpp"

#include "lease/holds.hpp"

#include <boost/asio/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace holdfast::detail {

namespace {

std::string_view name_of(loss_reason reason) {
    switch (reason) {
        case loss_reason::none: return "none";
        case loss_reason::expired: return "it expired";
        case loss_reason::taken: return "another holder has it";
        case loss_reason::deleted: return "its key is gone or was overwritten";
        case loss_reason::unreachable: return "no renewal was confirmed";
        case loss_reason::max_hold: return "max_hold is over";
        case loss_reason::client_stopped: return "the client was stopped";
    }
    return "";
}

bool is_alive(lease_state state) {
    return state == lease_state::held || state == lease_state::in_doubt;
}

error_code why_not(lease_state state) {
    return state == lease_state::lost ? errc::lease_lost : errc::not_held;
}

}  // namespace

// A share of an owner who re-entered.
struct tenure::further_share final : lease_share, std::enable_shared_from_this<further_share> {
    further_share(std::shared_ptr<tenure> joined, asio::any_io_executor const& executor)
        : lease_share{*joined, executor},
          keeps_alive{std::move(joined)} {}
    ~further_share() { of.forget(*this); }

    std::shared_ptr<tenure> keeps_alive;
};

std::optional<time_point> lease_share::on_due() {
    for (;;) {
        auto const next = of.take_step(*this);
        switch (next.kind) {
            case lease_fsm::step_kind::renew: break;
            case lease_fsm::step_kind::sleep: return next.until;
            case lease_fsm::step_kind::finish: return std::nullopt;
        }
    }
}

void lease_share::on_executor_gone() noexcept {
    of.on_executor_gone(*this);
}

std::shared_ptr<sleeper> lease_share::share() noexcept {
    return of.pointer_to(*this);
}

tenure::tenure(
    holds& all,
    std::shared_ptr<hold> over,
    fencing_token token,
    asio::any_io_executor const& holder_executor
)
    : all_{all},
      hold_{std::move(over)},
      token_{token},
      first_{*this, holder_executor} {
    shares_.push_back(first_);
}

tenure::shared_share tenure::pointer_to(lease_share& share) noexcept {
    if (&share == &first_) {
        return {shared_from_this(), &first_};
    }
    return static_cast<further_share&>(share).shared_from_this();
}

// The oldest one whose holder's executor is still there.
lease_share* tenure::renewing() noexcept {
    for (auto& share : shares_) {
        if (share.holder_executor) {
            return &share;
        }
    }
    return nullptr;
}

lease_state tenure::look() const noexcept {
    auto const now = lease_clock::now();
    if (hold_->client().closed()) {
        hold_->fsm().on_client_stopped(now);
    }
    return hold_->fsm().look(now);
}

template <class Change>
auto tenure::apply(Change change) {
    std::unique_lock guard{hold_->mutex()};
    auto const value = change(hold_->fsm(), lease_clock::now());
    bool const lost = look() == lease_state::lost && !std::exchange(loss_told_, true);
    auto const reason = hold_->fsm().loss();
    guard.unlock();
    if (lost) {
        on_lost(reason);
    }
    return value;
}

// For a step that may only be taken after a loss was told.
void tenure::observe() {
    apply([](lease_fsm&, time_point) { return true; });
}

void tenure::on_lost(loss_reason reason) {
    watchers told;
    {
        std::lock_guard const guard{hold_->mutex()};
        told.swap(watchers_);
    }
    stop_keeping(false);
    for_each_in_spite_of_exceptions(told, [reason](watcher& w) {
        w.handler.complete({}, reason);
    });
    report_loss(reason);
}

void tenure::report_loss(loss_reason reason) {
    hold_->client().count().lost(reason);
    hold_->client().on_strand([self = shared_from_this(), reason] {
        self->hold_->client().log(
            log_level::warning,
            fmt::format(
                "the lease of \"{}\" is lost: {}",
                escaped(self->hold_->on()->lock),
                name_of(reason)
            )
        );
    });
}

lease tenure::make_lease() {
    return lease{shared_share{shared_from_this(), &first_}};
}

lease tenure::make_further_lease(asio::any_io_executor const& holder_executor) {
    auto made = std::make_shared<further_share>(shared_from_this(), holder_executor);
    bool renews = false;
    {
        std::lock_guard const guard{hold_->mutex()};
        if (shares_.empty() || !is_alive(look())) {
            made->released = true;
            return {};
        }
        shares_.push_back(*made);
        renews = renewing() == made.get();
    }
    lease joined{std::move(made)};
    if (renews) {
        // The contexts of those before it are gone.
        start_keep_alive();
    }
    return joined;
}

lease_state tenure::state(lease_share const& asking) const noexcept {
    std::lock_guard const guard{hold_->mutex()};
    return asking.released ? lease_state::empty : look();
}

bool tenure::alive() const noexcept {
    std::lock_guard const guard{hold_->mutex()};
    return is_alive(look());
}

loss_reason tenure::loss(lease_share const& asking) const noexcept {
    std::lock_guard const guard{hold_->mutex()};
    if (asking.released) {
        return asking.lost;
    }
    return look() == lease_state::lost ? hold_->fsm().loss() : loss_reason::none;
}

time_point tenure::deadline() const noexcept {
    std::lock_guard const guard{hold_->mutex()};
    static_cast<void>(look());
    return hold_->fsm().deadline();
}

// What is due. A renewal has been sent.
lease_fsm::step tenure::take_step(lease_share& share) {
    using kind = lease_fsm::step_kind;
    auto const due = apply([&](lease_fsm& fsm, time_point now) {
        if (share.released) {
            return lease_fsm::step{kind::finish};
        }
        if (renewing() != &share) {
            return fsm.watch(now);
        }
        auto const next = fsm.next(now);
        if (next.kind == kind::renew) {
            fsm.on_renewal_sent(now);
        }
        return next;
    });
    if (due.kind == kind::renew) {
        try {
            hold_->renew({});
        } catch (std::exception const&) {
            // Out of memory: it is tried again soon.
            on_renewal_failed();
        }
    }
    return due;
}

time_point tenure::next_step_of(lease_share const& share) noexcept {
    std::lock_guard const guard{hold_->mutex()};
    auto const now = lease_clock::now();
    auto& fsm = hold_->fsm();
    auto const next = renewing() == &share ? fsm.next(now) : fsm.watch(now);
    return next.kind == lease_fsm::step_kind::sleep ? next.until : now;
}

void tenure::start_keep_alive() {
    shared_share oldest;
    {
        std::lock_guard const guard{hold_->mutex()};
        if (auto* const share = renewing()) {
            oldest = pointer_to(*share);
        }
    }
    if (oldest) {
        start_keep_alive(oldest);
    }
}

void tenure::start_keep_alive(shared_share const& share) {
    asio::any_io_executor executor;
    {
        std::lock_guard const guard{hold_->mutex()};
        if (share->kept || share->released || !share->holder_executor) {
            return;
        }
        share->kept = true;
        executor = share->holder_executor;
    }
    std::shared_ptr<keep_alive> keeper;
    try {
        keeper = all_.keepers().add(executor, *share, next_step_of(*share));
    } catch (...) {
        std::lock_guard const guard{hold_->mutex()};
        share->kept = false;
        throw;
    }
    bool over = false;
    {
        std::lock_guard const guard{hold_->mutex()};
        over = share->released || loss_told_;
        if (!over) {
            share->kept_by = keeper;
        }
    }
    if (over) {
        keeper->remove(*share);
    } else {
        // What has changed since then could not wake it.
        keeper->wake_at(*share, next_step_of(*share));
    }
}

void tenure::on_executor_gone(lease_share& share) noexcept {
    watchers dropped;
    asio::any_io_executor executor;
    std::shared_ptr<keep_alive> keeper;
    bool renewed = false;
    {
        std::lock_guard const guard{hold_->mutex()};
        renewed = renewing() == &share;
        executor.swap(share.holder_executor);
        keeper.swap(share.kept_by);
        dropped = take_watchers(share);
    }
    if (renewed && !hold_->client().gone()) {
        try {
            renew_elsewhere();
        } catch (...) {
            // Out of memory: the lease ends by itself.
        }
    }
}

// The oldest of the leases that are left may sleep, or may not be looked after yet.
void tenure::renew_elsewhere() {
    wake_renewing();
    start_keep_alive();
}

void tenure::wake_renewing() {
    shared_share sleeping;
    std::shared_ptr<keep_alive> keeper;
    {
        std::lock_guard const guard{hold_->mutex()};
        if (auto* const share = renewing()) {
            keeper = share->kept_by;
            sleeping = pointer_to(*share);
        }
    }
    if (keeper) {
        keeper->wake_at(*sleeping, time_point::min());
    }
}

void tenure::on_renewed(time_point sent_at) {
    bool const overslept = apply([&](lease_fsm& fsm, time_point now) {
        return fsm.on_renewed(sent_at, now);
    });
    if (overslept) {
        wake_renewing();
    }
}

void tenure::on_not_ours(loss_reason reason) {
    apply([&](lease_fsm& fsm, time_point now) {
        fsm.on_not_ours(reason, now);
        return true;
    });
}

void tenure::on_renewal_failed() {
    apply([&](lease_fsm& fsm, time_point now) {
        fsm.on_renewal_failed(fsm.terms().request_timeout / 4, now);
        return true;
    });
    wake_renewing();
}

void tenure::on_disconnected() {
    apply([](lease_fsm& fsm, time_point now) {
        fsm.on_disconnected(now);
        return true;
    });
}

void tenure::on_connected(nanos delay) {
    apply([&](lease_fsm& fsm, time_point now) {
        fsm.on_connected(delay, now);
        return true;
    });
    wake_renewing();
}

void tenure::on_client_stopped() {
    apply([](lease_fsm& fsm, time_point now) {
        fsm.on_client_stopped(now);
        return true;
    });
}

void tenure::renew(std::shared_ptr<lease_share> asking, plain_handler handler) {
    auto& client = hold_->client();
    auto caller =
        std::make_shared<pending_handler<error_code>>(std::move(handler), client.executor());
    if (auto const now = state(*asking); !is_alive(now)) {
        caller->complete(why_not(now));
        return;
    }
    abort_on_cancel(caller, hold_->share_client());
    hold_->renew([self = shared_from_this(), asking = std::move(asking), caller](error_code ec) {
        auto const now = self->state(*asking);
        caller->complete(is_alive(now) ? ec : why_not(now));
    });
}

tenure::watchers tenure::take_watchers(lease_share const& of) noexcept {
    watchers taken;
    for (auto at = watchers_.begin(); at != watchers_.end();) {
        auto const here = at++;
        if (here->of == &of) {
            taken.splice(taken.end(), watchers_, here);
        }
    }
    return taken;
}

// Ends ownership by the lease.
tenure::parting tenure::begin_release(lease_share& leaving, bool& was_lost) {
    watchers left;
    asio::any_io_executor executor;
    std::shared_ptr<keep_alive> keeper;
    bool renewed = false;
    observe();
    auto const how = apply([&](lease_fsm& fsm, time_point now) {
        if (leaving.released) {
            return parting::none;
        }
        renewed = renewing() == &leaving;
        leaving.released = true;
        was_lost = look() == lease_state::lost;
        if (was_lost) {
            leaving.lost = fsm.loss();
        }
        keeper.swap(leaving.kept_by);
        // Now, and not when the client gets there: the holder's context may be gone by then.
        executor.swap(leaving.holder_executor);
        shares_.erase(shares_.iterator_to(leaving));
        if (shares_.empty()) {
            last_ = &leaving;
            fsm.on_release(now);
            return parting::last;
        }
        left = take_watchers(leaving);
        return parting::one_of_several;
    });
    if (keeper) {
        keeper->remove(leaving);
    }
    for (auto& w : left) {
        w.handler.complete(errc::not_held, loss_reason::none);
    }
    if (renewed && how == parting::one_of_several) {
        renew_elsewhere();
    }
    return how;
}

void tenure::release(std::shared_ptr<lease_share> const& asking, plain_handler handler) {
    auto& client = hold_->client();
    auto caller =
        std::make_shared<pending_handler<error_code>>(std::move(handler), client.executor());
    bool was_lost = false;
    switch (begin_release(*asking, was_lost)) {
        case parting::none: caller->complete(errc::not_held); break;
        case parting::one_of_several:
            caller->complete(was_lost ? make_error_code(errc::lease_lost) : error_code{});
            break;
        case parting::last:
            abort_on_cancel(caller, hold_->share_client());
            give_back(was_lost, std::move(caller));
            break;
    }
}

void tenure::abandon(lease_share& dropped) noexcept {
    try {
        bool was_lost = false;
        if (begin_release(dropped, was_lost) == parting::last && !hold_->client().gone()) {
            give_back(was_lost, {});
        }
    } catch (...) {
        // Out of memory: the lease ends by itself, it is not renewed any more.
    }
}

void tenure::give_back(bool was_lost, std::shared_ptr<pending_handler<error_code>> caller) {
    hold_->client().enter_strand(
        [self = shared_from_this(), was_lost, caller = std::move(caller)]() mutable {
            auto& all = self->all_;
            auto const& given = self->hold_;
            all.forget(*given);
            all.releases().add({
                .on = given->on(),
                .id = given->id(),
                // A renewal may have been executed and not answered.
                .terms = {.until = lease_clock::now() + given->terms().lease,
                          .timeout = given->terms().request_timeout,
                          .was_lost = was_lost,
                          .withdrawal = false},
                .of = std::move(self),
                .caller = std::move(caller),
            });
        }
    );
}

void tenure::on_released(loss_reason lost) {
    watchers left;
    bool report = false;
    {
        std::lock_guard const guard{hold_->mutex()};
        left.swap(watchers_);
        if (lost != loss_reason::none && !std::exchange(loss_told_, true)) {
            report = true;
            hold_->fsm().on_found_lost(lost, lease_clock::now());
            if (last_) {
                last_->lost = lost;
            }
        }
    }
    for_each_in_spite_of_exceptions(left, [&](watcher& w) {
        if (report) {
            w.handler.complete({}, lost);
        } else {
            w.handler.complete(errc::not_held, loss_reason::none);
        }
    });
    if (report) {
        report_loss(lost);
    }
}

void tenure::wait_lost(std::shared_ptr<lease_share> const& asking, loss_handler handler) {
    // The loss is told from the holder's executor: the client's may be stuck.
    start_keep_alive(asking);
    asio::any_io_executor relay;
    {
        std::lock_guard const guard{hold_->mutex()};
        relay = asking->holder_executor ? asking->holder_executor : hold_->client().executor();
    }
    pending_handler<error_code, loss_reason> waiting{std::move(handler), relay};
    std::unique_lock guard{hold_->mutex()};
    auto const now = asking->released ? lease_state::empty : look();
    if (!is_alive(now)) {
        auto const reason = hold_->fsm().loss();
        guard.unlock();
        if (now == lease_state::lost) {
            waiting.complete({}, reason);
        } else {
            waiting.complete(errc::not_held, loss_reason::none);
        }
        return;
    }
    auto const number = next_watcher_++;
    waiting.on_cancel([self = weak_from_this(), number](asio::cancellation_type type) {
        auto const held = self.lock();
        if (held && type != asio::cancellation_type::none) {
            held->cancel_watch(number);
        }
    });
    watchers_.push_back({asking.get(), number, std::move(waiting)});
}

void tenure::cancel_watch(std::uint64_t number) {
    watchers cancelled;
    {
        std::lock_guard const guard{hold_->mutex()};
        auto const at =
            std::find_if(watchers_.begin(), watchers_.end(), [number](watcher const& w) {
                return w.number == number;
            });
        if (at != watchers_.end()) {
            cancelled.splice(cancelled.end(), watchers_, at);
        }
    }
    for (auto& w : cancelled) {
        w.handler.complete(asio::error::operation_aborted, loss_reason::none);
    }
}

// One at a time: executors are destroyed outside the mutex, because one may own its context.
void tenure::stop_keeping(bool drop_executors) noexcept {
    for (;;) {
        asio::any_io_executor executor;
        std::shared_ptr<keep_alive> keeper;
        shared_share share;
        {
            std::lock_guard const guard{hold_->mutex()};
            auto const at = std::find_if(shares_.begin(), shares_.end(), [&](auto const& each) {
                return each.kept_by || (drop_executors && each.holder_executor);
            });
            if (at == shares_.end()) {
                return;
            }
            if (drop_executors) {
                executor.swap(at->holder_executor);
            }
            keeper.swap(at->kept_by);
            share = pointer_to(*at);
        }
        if (keeper) {
            keeper->remove(*share);
        }
    }
}

void tenure::forget(lease_share const& share) noexcept {
    std::lock_guard const guard{hold_->mutex()};
    if (last_ == &share) {
        last_ = nullptr;
    }
}

void tenure::drop_watchers() noexcept {
    watchers dropped;
    std::lock_guard const guard{hold_->mutex()};
    dropped.swap(watchers_);
}

}  // namespace holdfast::detail
