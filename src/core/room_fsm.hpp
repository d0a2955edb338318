#ifndef HOLDFAST_CORE_ROOM_FSM_HPP
#define HOLDFAST_CORE_ROOM_FSM_HPP

#include "core/backoff.hpp"
#include "core/lease_terms.hpp"

#include <cstdint>
#include <optional>

namespace holdfast::detail {

/// When should the first waiter of a key try? What is known is a matter of the key, not of the
/// waiter: so a waiter that gives up takes no wake-up with it, the next one finds it here.
///
/// The rule that loses no release: after a refusal, sleep only if the channel's subscription was
/// confirmed before the refused attempt was sent, or until it is confirmed and one more attempt was
/// refused.
class room_fsm {
public:
    room_fsm(nanos fallback, nanos backoff_min, nanos backoff_max) noexcept
        : fallback_{fallback},
          backoff_{backoff_min, backoff_max} {}

    /// The earliest instant to try: at once if not after `now`; nothing while an attempt is in
    /// flight or there is no connection.
    [[nodiscard]] std::optional<time_point> attempt_at() const noexcept;
    /// Whether a subscription is of use: somebody else has, or may have, the lock.
    [[nodiscard]] bool wants_notices() const noexcept { return refused_; }

    void on_attempt_sent() noexcept;
    /// Refused. `remaining` is the time to the end of the holder's lease, negative if it never
    /// ends; `jitter` is drawn by the caller.
    void on_busy(std::int64_t remaining_ms, nanos jitter, time_point now) noexcept;
    /// One of ours got it: nobody needs to try before the end of that lease or a notice.
    void on_granted(nanos lease, time_point now) noexcept;
    /// Nobody answered: try again after a while. `part` in [0, 1) is drawn by the caller.
    void on_setback(double part, time_point now) noexcept;
    /// The server answered that it could not, so the lock is not known to be busy any more. Try
    /// again after a while, too.
    void on_refused(double part, time_point now) noexcept;
    /// The attempt was left behind by its waiter, or ended with an error of the waiter's own: the
    /// next one has to look.
    void on_undecided() noexcept;
    /// The lock may be free.
    void on_news() noexcept { news_ = true; }

    void on_subscribed(nanos delay, time_point now) noexcept;
    void on_unsubscribed(time_point now) noexcept;
    void on_connected() noexcept;
    void on_disconnected() noexcept;

    [[nodiscard]] bool last_answer_was_busy() const noexcept { return busy_; }

    friend bool operator==(room_fsm const&, room_fsm const&) = default;

private:
    void look_again(time_point at) noexcept;

    nanos fallback_;
    backoff backoff_;
    bool connected_ = true;
    bool subscribed_ = false;
    bool in_flight_ = false;
    bool news_ = true;
    bool refused_ = false;
    bool busy_ = false;
    time_point look_at_ = time_point::max();
};

}  // namespace holdfast::detail

#endif
