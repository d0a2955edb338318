#include "ops/grant.hpp"

#include "ops/client_state.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <vector>

namespace holdfast::detail {

namespace {

std::string_view name_of(loss_reason reason) {
    switch (reason) {
        case loss_reason::none: return "none";
        case loss_reason::expired: return "it expired";
        case loss_reason::taken: return "another holder has it";
        case loss_reason::deleted: return "its key is gone";
        case loss_reason::unreachable: return "no renewal was confirmed";
        case loss_reason::max_hold: return "max_hold is over";
        case loss_reason::client_stopped: return "the client was stopped";
    }
    return "";
}

bool is_alive(lease_state state) {
    return state == lease_state::held || state == lease_state::in_doubt;
}

}  // namespace

grant::grant(
    std::shared_ptr<client_state> client,
    std::shared_ptr<key_names const> key,
    holder_id const& id,
    fencing_token token,
    lease_fsm const& fsm,
    time_point granted_at,
    asio::any_io_executor const& holder
)
    : client_{std::move(client)},
      key_{std::move(key)},
      id_{id},
      token_{token},
      granted_at_{granted_at},
      fsm_{fsm},
      first_{*this, holder} {
    shares_.push_back(first_);
}

template <class Change>
auto grant::apply(Change change) {
    using result = decltype(change(fsm_, time_point{}));
    std::unique_lock guard{mutex_};
    auto const now = lease_clock::now();
    auto finish = [&] {
        auto const state = fsm_.look(now);
        auto const reason = fsm_.loss();
        bool const tell = state == lease_state::lost && !std::exchange(loss_told_, true);
        std::list<watcher> watchers;
        if (tell || state == lease_state::empty) {
            watchers.swap(watchers_);
        }
        guard.unlock();
        for (auto& w : watchers) {
            w.handler.complete(
                tell ? error_code{} : make_error_code(errc::not_held),
                tell ? reason : loss_reason::none
            );
        }
        if (tell) {
            after(reason);
        }
    };
    if constexpr (std::is_void_v<result>) {
        change(fsm_, now);
        finish();
    } else {
        auto value = change(fsm_, now);
        finish();
        return value;
    }
}

struct grant::further_share : lease_share, std::enable_shared_from_this<further_share> {
    further_share(std::shared_ptr<grant> joined, asio::any_io_executor const& executor)
        : lease_share{*joined, executor},
          keeps_alive{std::move(joined)} {}

    std::shared_ptr<grant> keeps_alive;
};

grant::shared_share grant::pointer_to(lease_share& share) {
    if (&share == &first_) {
        return {shared_from_this(), &first_};
    }
    return static_cast<further_share&>(share).shared_from_this();
}

// The oldest one whose holder's executor is still there.
lease_share* grant::renewing() noexcept {
    for (auto& share : shares_) {
        if (share.holder) {
            return &share;
        }
    }
    return nullptr;
}

/// Lives as long as a keep-alive. If that is destroyed before it has ended, or has begun, its
/// context is: there is nowhere to tell anybody anything.
class grant::keep_alive_guard {
public:
    explicit keep_alive_guard(shared_share share) : share_{std::move(share)} {}
    keep_alive_guard(keep_alive_guard&&) noexcept = default;
    keep_alive_guard& operator=(keep_alive_guard&&) = delete;
    ~keep_alive_guard() {
        if (share_ && !ended_) {
            share_->of.on_holder_gone(*share_);
        }
    }

    [[nodiscard]] lease_share& share() const noexcept { return *share_; }
    void end() noexcept { ended_ = true; }

private:
    shared_share share_;
    bool ended_ = false;
};

void grant::start_keep_alive() {
    shared_share oldest;
    {
        std::lock_guard const guard{mutex_};
        if (auto* const share = renewing()) {
            oldest = pointer_to(*share);
        }
    }
    if (oldest) {
        start_keep_alive(std::move(oldest));
    }
}

void grant::start_keep_alive(shared_share share) {
    asio::any_io_executor strand;
    {
        std::lock_guard const guard{mutex_};
        if (share->strand || !share->holder) {
            return;
        }
        strand = share->strand = asio::make_strand(share->holder);
    }
    asio::co_spawn(
        std::move(strand),
        keep_alive(keep_alive_guard{std::move(share)}),
        asio::detached
    );
}

// What is due; a renewal has been sent.
lease_fsm::step grant::take_step(lease_share& share) {
    lease_fsm::step due{lease_fsm::step_kind::sleep};
    try {
        due = apply([&](lease_fsm& fsm, time_point now) {
            if (share.released) {
                return lease_fsm::step{lease_fsm::step_kind::finish};
            }
            if (renewing() != &share) {
                return fsm.watch(now);
            }
            auto const next = fsm.next(now);
            if (next.kind == lease_fsm::step_kind::renew) {
                fsm.on_renewal_sent(now);
            }
            return next;
        });
        if (due.kind == lease_fsm::step_kind::renew) {
            send_renewal({}, {});
        }
        return due;
    } catch (std::exception const&) {
        // Out of memory. The holder counts on being told: there is another look, soon.
        std::lock_guard const guard{mutex_};
        auto const pause = fsm_.terms().request_timeout / 4;
        if (due.kind == lease_fsm::step_kind::renew) {
            fsm_.on_renewal_failed(pause, lease_clock::now());
        }
        return {lease_fsm::step_kind::sleep, lease_clock::now() + pause};
    }
}

// A steady_timer coroutine on the holder's strand. A holder that blocks its strand blocks this too:
// its lease ends.
asio::awaitable<void> grant::keep_alive(keep_alive_guard guard) {
    auto& share = guard.share();
    auto& self = share.of;
    timer sleep{co_await asio::this_coro::executor};
    struct registration {
        lease_share& of;
        ~registration() { of.sleeping = nullptr; }
    } const registered{share};
    share.sleeping = &sleep;

    for (;;) {
        auto step = self.take_step(share);
        if (step.kind == lease_fsm::step_kind::renew) {
            continue;
        }
        if (step.kind == lease_fsm::step_kind::finish) {
            guard.end();
            co_return;
        }
        sleep_until(sleep, step.until);
        auto wait = sleep.async_wait(asio::as_tuple(asio::deferred));
        co_await std::move(wait);
    }
}

void grant::take_watchers(lease_share const& of, std::list<watcher>& taken) noexcept {
    for (auto at = watchers_.begin(); at != watchers_.end();) {
        auto const here = at++;
        if (here->of == &of) {
            taken.splice(taken.end(), watchers_, here);
        }
    }
}

void grant::on_holder_gone(lease_share& share) noexcept {
    std::list<watcher> dropped;
    asio::any_io_executor holder;
    asio::any_io_executor strand;
    bool renewed = false;
    {
        std::lock_guard const guard{mutex_};
        renewed = renewing() == &share;
        holder.swap(share.holder);
        strand.swap(share.strand);
        take_watchers(share, dropped);
    }
    if (renewed && !client_->gone()) {
        try {
            renew_elsewhere();
        } catch (...) {
            // Out of memory: the lease ends by itself.
        }
    }
}

// The oldest of the leases that are left may sleep, or have no keep-alive yet.
void grant::renew_elsewhere() {
    wake_renewing();
    start_keep_alive();
}

void grant::after(loss_reason reason) {
    client_->count().lost(reason);
    client_->on_strand([self = shared_from_this(), reason] {
        self->client_->log(
            log_level::warning,
            fmt::format(
                "the lease of \"{}\" is lost: {}",
                escaped(self->key_->lock),
                name_of(reason)
            )
        );
    });
    wake_all();
}

lease grant::make_lease() {
    return lease{shared_share{shared_from_this(), &first_}};
}

lease grant::make_further_lease(asio::any_io_executor const& holder) {
    auto made = std::make_shared<further_share>(shared_from_this(), holder);
    bool renews = false;
    {
        std::lock_guard const guard{mutex_};
        if (shares_.empty() || !is_alive(fsm_.look(lease_clock::now()))) {
            made->released = true;
            return {};
        }
        shares_.push_back(*made);
        renews = renewing() == made.get();
    }
    lease joined{std::move(made)};
    if (renews) {
        // Those before it went down with their contexts.
        start_keep_alive();
    }
    return joined;
}

// Without a lease, the state of the grant.
lease_state grant::state_of(lease_share const* asking) const noexcept {
    std::lock_guard const guard{mutex_};
    return asking && asking->released ? lease_state::empty : fsm_.look(lease_clock::now());
}

lease_state grant::state(lease_share const& asking) const noexcept {
    return state_of(&asking);
}

loss_reason grant::loss(lease_share const& asking) const noexcept {
    std::lock_guard const guard{mutex_};
    bool const lost = !asking.released && fsm_.look(lease_clock::now()) == lease_state::lost;
    return lost ? fsm_.loss() : loss_reason::none;
}

time_point grant::deadline() const noexcept {
    std::lock_guard const guard{mutex_};
    return fsm_.deadline();
}

void grant::wake(strand_and_share sleeper) {
    auto& [strand, share] = sleeper;
    if (strand && !client_->gone()) {
        asio::post(strand, [woken = std::move(share)] {
            if (woken->sleeping) {
                woken->sleeping->cancel();
            }
        });
    }
}

void grant::wake_renewing() {
    strand_and_share sleeper;
    {
        std::lock_guard const guard{mutex_};
        auto* const share = renewing();
        if (!share) {
            return;
        }
        sleeper = {share->strand, pointer_to(*share)};
    }
    wake(std::move(sleeper));
}

void grant::wake_all() {
    std::vector<strand_and_share> sleepers;
    {
        std::lock_guard const guard{mutex_};
        for (auto& share : shares_) {
            sleepers.emplace_back(share.strand, pointer_to(share));
        }
    }
    for (auto& sleeper : sleepers) {
        wake(std::move(sleeper));
    }
}

// `caller` waits for the answer to what the lease `asking` wants; without them this is the
// keep-alive.
void grant::send_renewal(
    std::shared_ptr<lease_share> asking,
    std::shared_ptr<pending_handler<error_code>> caller
) {
    client_->on_strand([self = shared_from_this(), asking = std::move(asking), caller] {
        // It may have been released since.
        if (auto const state = self->state_of(asking.get()); !is_alive(state)) {
            if (caller) {
                caller->complete(state == lease_state::lost ? errc::lease_lost : errc::not_held);
            }
            return;
        }
        auto const sent_at = lease_clock::now();
        self->client_->exec_renew(*self, [self, asking, caller, sent_at](exec_result result) {
            auto& count = self->client_->count();
            bool const replied = result.status == exec_status::replied;
            bool const wrong_type =
                result.status == exec_status::failed && result.error == errc::corrupt_state;
            error_code ec;
            bool wake = true;
            if (replied && result.reply.integer(0) == 1) {
                count.renewals.add();
                wake = self->apply([&](lease_fsm& fsm, time_point now) {
                    return fsm.on_renewed(sent_at, now);
                });
            } else if (replied || wrong_type) {
                bool const gone = replied && result.reply.integer(1) == 0;
                ec = errc::lease_lost;
                self->apply([&](lease_fsm& fsm, time_point now) {
                    fsm.on_not_ours(gone ? loss_reason::deleted : loss_reason::taken, now);
                });
            } else {
                count.failed_renewals.add();
                ec = result.error ? result.error : make_error_code(errc::unreachable);
                auto const pause = self->terms().request_timeout / 4;
                self->apply([&](lease_fsm& fsm, time_point now) {
                    fsm.on_renewal_failed(pause, now);
                });
            }
            if (caller) {
                auto const state = self->state_of(asking.get());
                caller->complete(
                    ec || is_alive(state)        ? ec
                    : state == lease_state::lost ? make_error_code(errc::lease_lost)
                                                 : make_error_code(errc::not_held)
                );
            }
            if (wake) {
                self->wake_renewing();
            }
        });
    });
}

void grant::renew(std::shared_ptr<lease_share> asking, plain_handler handler) {
    auto caller =
        std::make_shared<pending_handler<error_code>>(std::move(handler), client_->executor());
    auto const now = state(*asking);
    if (!is_alive(now)) {
        caller->complete(now == lease_state::lost ? errc::lease_lost : errc::not_held);
        return;
    }
    abort_on_cancel(caller, client_);
    send_renewal(std::move(asking), caller);
}

grant::parting grant::begin_release(lease_share& leaving, bool& was_lost) {
    std::list<watcher> watchers;
    strand_and_share asleep;
    bool renewed = false;
    auto const how = apply([&](lease_fsm& fsm, time_point now) {
        if (leaving.released) {
            return parting::none;
        }
        renewed = renewing() == &leaving;
        leaving.released = true;
        was_lost = fsm.look(now) == lease_state::lost;
        asleep = {std::exchange(leaving.strand, {}), pointer_to(leaving)};
        // Now, and not when the client gets there: the holder's context may be gone by then.
        leaving.holder = {};
        shares_.erase(shares_.iterator_to(leaving));
        if (shares_.empty()) {
            fsm.on_release(now);
            return parting::last;
        }
        take_watchers(leaving, watchers);
        return parting::one_of_several;
    });
    if (how == parting::none) {
        return how;
    }
    wake(std::move(asleep));
    for (auto& w : watchers) {
        w.handler.complete(errc::not_held, loss_reason::none);
    }
    if (renewed && how == parting::one_of_several) {
        renew_elsewhere();
    }
    return how;
}

void grant::release(std::shared_ptr<lease_share> const& asking, plain_handler handler) {
    auto caller =
        std::make_shared<pending_handler<error_code>>(std::move(handler), client_->executor());
    bool was_lost = false;
    switch (begin_release(*asking, was_lost)) {
        case parting::none: caller->complete(errc::not_held); break;
        case parting::one_of_several:
            caller->complete(was_lost ? make_error_code(errc::lease_lost) : error_code{});
            break;
        case parting::last:
            abort_on_cancel(caller, client_);
            hand_over(was_lost, caller);
            break;
    }
}

void grant::abandon(lease_share& dropped) noexcept {
    try {
        bool was_lost = false;
        if (begin_release(dropped, was_lost) == parting::last && !client_->gone()) {
            hand_over(was_lost, {});
        }
    } catch (...) {
        // Out of memory: the lease ends by itself, nobody renews it any more.
    }
}

void grant::hand_over(bool was_lost, std::shared_ptr<pending_handler<error_code>> caller) {
    client_->enter_strand([self = shared_from_this(), was_lost, caller = std::move(caller)](
                          ) mutable {
        auto const terms = self->terms();
        self->client_->forget(*self);
        self->client_->release(
            {.key = self->key_,
             .id = self->id_,
             .until = lease_clock::now() + terms.lease,  // a renewal may have been executed unheard
             .timeout = terms.request_timeout,
             .was_lost = was_lost,
             .handler = std::move(caller)}
        );
    });
}

void grant::wait_lost(std::shared_ptr<lease_share> const& asking, loss_handler handler) {
    // The loss is told from the holder's executor: the client's may be stuck.
    start_keep_alive(asking);
    std::unique_lock guard{mutex_};
    pending_handler<error_code, loss_reason> waiting{
        std::move(handler),
        asking->holder ? asking->holder : client_->executor()
    };
    auto const now = asking->released ? lease_state::empty : fsm_.look(lease_clock::now());
    if (!is_alive(now)) {
        auto const reason = fsm_.loss();
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

void grant::cancel_watch(std::uint64_t number) {
    std::list<watcher> cancelled;
    {
        std::lock_guard const guard{mutex_};
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

void grant::on_disconnected() {
    apply([](lease_fsm& fsm, time_point now) { fsm.on_disconnected(now); });
}

void grant::on_connected(nanos delay) {
    apply([&](lease_fsm& fsm, time_point now) { fsm.on_connected(delay, now); });
    wake_renewing();
}

void grant::on_client_stopped() {
    apply([](lease_fsm& fsm, time_point now) { fsm.on_client_stopped(now); });
}

void grant::on_listed() noexcept {
    self_ = shared_from_this();
}

void grant::on_forgotten() noexcept {
    drop_executors();
    auto const self = std::move(self_);
}

void grant::drop_executors() noexcept {
    std::lock_guard const guard{mutex_};
    for (auto& share : shares_) {
        share.strand = {};
        share.holder = {};
    }
}

void grant::on_context_gone() noexcept {
    auto const self = std::move(self_);
    drop_executors();
    std::list<watcher> dropped;
    std::lock_guard const guard{mutex_};
    dropped.swap(watchers_);
}

// The functions that the public headers declare.

asio::any_io_executor executor_of(lease_share const* held) noexcept {
    return held ? held->of.client().executor() : asio::any_io_executor{asio::system_executor{}};
}

}  // namespace holdfast::detail
