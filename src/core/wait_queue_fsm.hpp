#ifndef HOLDFAST_CORE_WAIT_QUEUE_FSM_HPP
#define HOLDFAST_CORE_WAIT_QUEUE_FSM_HPP

#include "core/backoff.hpp"
#include "core/lease_terms.hpp"

#include <optional>

namespace holdfast::detail {

/// Decides when the first waiter of a target tries. What is known belongs to the target, not to the
/// waiter: a waiter that gives up takes no wake-up with it, the next one finds it here.
///
/// The rule that loses no release: after a refusal, sleep only if the channel's subscription was
/// confirmed before the refused attempt was sent, or until it is confirmed and one more attempt was
/// refused.
class wait_queue_fsm {
public:
    /// Spreads those who wait for the end of the same lease, or come back after the same break.
    static constexpr nanos longest_jitter = millis{15};
    /// How old an answer may be that a newcomer relies on.
    static constexpr nanos newcomers_trust = millis{250};

    wait_queue_fsm(nanos fallback_poll_interval, nanos backoff_min, nanos backoff_max) noexcept
        : fallback_poll_interval_{fallback_poll_interval},
          backoff_{backoff_min, backoff_max} {}

    /// The earliest instant to try: at once if not after `now`; nothing while an attempt is in
    /// flight or there is no connection.
    [[nodiscard]] std::optional<time_point> attempt_at() const noexcept;
    /// Whether a subscription is of use: another holder has, or may have, the lock.
    [[nodiscard]] bool wants_notifications() const noexcept { return refused_; }
    /// Whether an attempt was sent after `start`.
    [[nodiscard]] bool asked_since(time_point start) const noexcept { return sent_at_ >= start; }
    /// The same, and the server said that the lock is held.
    [[nodiscard]] bool busy_since(time_point start) const noexcept { return busy_at_ >= start; }

    void on_attempt_sent(time_point now) noexcept;
    /// Refused. `remaining` is the time to the end of the holder's lease, none if it has no end;
    /// The caller draws `jitter`. `told`: this client will hear when the lock is freed.
    void on_busy(
        std::optional<millis> remaining,
        nanos jitter,
        time_point now,
        bool told = true
    ) noexcept;
    /// A waiter of this queue was granted the lock: the next one has no reason to try before that
    /// lease ends or a notification comes. `exclusive`: so the lock is known to be busy. Beside
    /// another grant there may be more to have.
    void on_granted(nanos lease, bool exclusive, time_point now) noexcept;
    /// No answer came, or one that decides nothing: try again after a while. `part` in [0, 1) is
    /// drawn by the caller.
    void on_setback(double part, time_point now) noexcept;
    /// The attempt was left behind by its waiter, or ended with an error of the waiter's own: the
    /// next one has to look.
    void on_undecided() noexcept;
    /// The lock may be free.
    void on_news() noexcept { news_ = true; }
    /// The same, but others have the first try.
    void on_news(nanos delay, time_point now) noexcept { look_again(saturating_add(now, delay)); }
    /// This client does not try before `until`; a time that has passed ends that.
    void on_hold_back(time_point until) noexcept { quiet_until_ = until; }
    /// Another client gave the lock to this one. There is no reason to try before `look_at`.
    void on_taken(time_point look_at) noexcept;
    /// A waiter joins those that sleep. What they were told may be wrong by now: a lease that ends
    /// early tells no one. The server is asked again, at once for a waiter that soon gives up
    /// (`brief`), else so that newcomers cost a few requests a second together.
    void on_newcomer(bool brief, time_point now) noexcept;

    void on_subscribed(nanos delay, time_point now) noexcept;
    void on_unsubscribed(time_point now) noexcept;
    /// `delay` spreads the attempts of many queues.
    void on_connected(nanos delay, time_point now) noexcept;
    void on_disconnected() noexcept;

    friend bool operator==(wait_queue_fsm const&, wait_queue_fsm const&) = default;

private:
    void look_again(time_point at) noexcept;

    nanos fallback_poll_interval_;
    backoff backoff_;
    bool connected_ = true;
    bool subscribed_ = false;
    bool in_flight_ = false;
    bool news_ = true;
    bool refused_ = false;
    time_point look_at_ = time_point::max();
    time_point sent_at_ = time_point::min();
    time_point quiet_until_ = time_point::min();
    // When the attempt was sent whose answer was that the lock is held.
    time_point busy_at_ = time_point::min();
};

}  // namespace holdfast::detail

#endif
