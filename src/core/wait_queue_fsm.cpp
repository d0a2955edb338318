#include "core/wait_queue_fsm.hpp"

#include <algorithm>

namespace holdfast::detail {

namespace {

// A server counts in whole milliseconds: in the last one of a lease it says zero.
constexpr nanos shortest_pause = millis{1};

// A key may have an expiry that the lease clock cannot express.
nanos until_end(millis remaining) noexcept {
    constexpr auto longest = std::chrono::duration_cast<millis>(nanos::max()) / 2;
    return std::min(remaining, longest);
}

}  // namespace

std::optional<time_point> wait_queue_fsm::attempt_at() const noexcept {
    if (in_flight_ || !connected_) {
        return std::nullopt;
    }
    return std::max(news_ ? time_point::min() : look_at_, quiet_until_);
}

// What was set since the attempt was sent is an event that its answer may not know of.
void wait_queue_fsm::look_again(time_point at) noexcept {
    look_at_ = std::min(look_at_, at);
}

void wait_queue_fsm::on_attempt_sent(time_point now) noexcept {
    in_flight_ = true;
    news_ = false;
    look_at_ = time_point::max();
    sent_at_ = now;
}

void wait_queue_fsm::on_busy(
    std::optional<millis> remaining,
    nanos jitter,
    time_point now,
    bool told
) noexcept {
    in_flight_ = false;
    refused_ = true;
    busy_at_ = sent_at_;
    backoff_.reset();
    // A key without an expiry is looked at again and again, and so is one without a subscription:
    // no notification will come.
    // mutant: no-timer-for-the-end-of-the-lease
    auto wait = remaining ? until_end(*remaining) + jitter : fallback_poll_interval_;
    if (!subscribed_ || !told) {
        wait = std::min(wait, fallback_poll_interval_);
    }
    look_again(saturating_add(now, std::max(wait, shortest_pause)));
}

void wait_queue_fsm::on_granted(nanos lease, bool exclusive, time_point now) noexcept {
    in_flight_ = false;
    refused_ = true;
    if (exclusive) {
        busy_at_ = sent_at_;
    }
    backoff_.reset();
    look_again(saturating_add(now, subscribed_ ? lease : std::min(lease, fallback_poll_interval_)));
}

void wait_queue_fsm::on_taken(time_point look_at) noexcept {
    in_flight_ = false;
    refused_ = true;
    news_ = false;
    look_at_ = look_at;
    backoff_.reset();
}

void wait_queue_fsm::on_setback(double part, time_point now) noexcept {
    in_flight_ = false;
    // mutant: back-off-without-a-pause
    look_again(now + backoff_.next(part));
}

void wait_queue_fsm::on_undecided() noexcept {
    in_flight_ = false;
    // mutant: wake-up-consumed-by-a-cancelled-waiter
    news_ = true;
}

void wait_queue_fsm::on_newcomer(bool brief, time_point now) noexcept {
    if (brief) {
        news_ = true;
    } else {
        look_again(std::max(now, sent_at_ + newcomers_trust));
    }
}

void wait_queue_fsm::on_subscribed(nanos delay, time_point now) noexcept {
    subscribed_ = true;
    if (delay > nanos{0}) {
        look_again(saturating_add(now, delay));
    } else {
        // mutant: asleep-without-a-confirmation
        news_ = true;
    }
}

void wait_queue_fsm::on_unsubscribed(time_point now) noexcept {
    subscribed_ = false;
    look_again(saturating_add(now, fallback_poll_interval_));
}

void wait_queue_fsm::on_connected(nanos delay, time_point now) noexcept {
    // A reason to try that came without a connection is no reason to try before the delay is over.
    news_ = false;
    connected_ = true;
    // mutant: waits-through-a-reconnection
    look_again(saturating_add(now, delay));
}

void wait_queue_fsm::on_disconnected() noexcept {
    connected_ = false;
}

}  // namespace holdfast::detail
