#include "core/room_fsm.hpp"

#include <algorithm>

namespace holdfast::detail {

namespace {

// A key may have an expiry that no clock of ours can express.
nanos until_end(std::int64_t remaining_ms) noexcept {
    constexpr auto longest = std::chrono::duration_cast<millis>(nanos::max()) / 2;
    return std::min(millis{remaining_ms}, longest);
}

}  // namespace

std::optional<time_point> room_fsm::attempt_at() const noexcept {
    if (in_flight_ || !connected_) {
        return std::nullopt;
    }
    return news_ ? time_point::min() : look_at_;
}

// What was set since the attempt was sent is an event that its answer may not know of.
void room_fsm::look_again(time_point at) noexcept {
    look_at_ = std::min(look_at_, at);
}

void room_fsm::on_attempt_sent() noexcept {
    in_flight_ = true;
    news_ = false;
    look_at_ = time_point::max();
}

void room_fsm::on_busy(std::int64_t remaining_ms, nanos jitter, time_point now) noexcept {
    in_flight_ = false;
    refused_ = true;
    busy_ = true;
    backoff_.reset();
    // A key without an expiry is not waited for in silence, and without a subscription no notice
    // will come.
    auto wait = remaining_ms < 0 ? fallback_ : until_end(remaining_ms) + jitter;
    if (!subscribed_) {
        wait = std::min(wait, fallback_);
    }
    look_again(saturating_add(now, wait));
}

void room_fsm::on_granted(nanos lease, time_point now) noexcept {
    in_flight_ = false;
    refused_ = true;
    busy_ = true;
    backoff_.reset();
    look_again(saturating_add(now, subscribed_ ? lease : std::min(lease, fallback_)));
}

void room_fsm::on_setback(double part, time_point now) noexcept {
    in_flight_ = false;
    look_again(now + backoff_.next(part));
}

void room_fsm::on_refused(double part, time_point now) noexcept {
    busy_ = false;
    on_setback(part, now);
}

void room_fsm::on_undecided() noexcept {
    in_flight_ = false;
    news_ = true;
}

void room_fsm::on_subscribed(nanos delay, time_point now) noexcept {
    subscribed_ = true;
    if (delay > nanos{0}) {
        look_at_ = std::min(look_at_, saturating_add(now, delay));
    } else {
        news_ = true;
    }
}

void room_fsm::on_unsubscribed(time_point now) noexcept {
    subscribed_ = false;
    look_at_ = std::min(look_at_, saturating_add(now, fallback_));
}

void room_fsm::on_connected() noexcept {
    connected_ = true;
    news_ = true;
}

void room_fsm::on_disconnected() noexcept {
    connected_ = false;
}

}  // namespace holdfast::detail
