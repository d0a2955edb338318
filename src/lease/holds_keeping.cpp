// What the client does about its tenures as time goes by.

#include "lease/holds.hpp"

#include <algorithm>

namespace holdfast::detail {

void holds::look_after(tenure& of, lease_fsm::grant const& times) {
    if (times.renew_at < times.at + 2 * young) {
        of.start_keep_alive();
    }
    // Tenures that begin within a moment are due together, so that thousands of them do not wake
    // the client one by one.
    constexpr nanos moment = young / 2;
    auto const at = times.at + young + moment - times.at.time_since_epoch() % moment;
    due_.set(of, std::min(at, times.deadline));
}

// It has become old enough to be renewed, or its deadline may have come. A holder that lost its
// lease by time need not know of that, and need not release it: others get the lock as soon as it
// may not rely on it any more.
void holds::on_due(tenure& of) {
    auto const now = lease_clock::now();
    auto const end = of.ends_at(now);
    if (!end) {
        return;  // its release is on its way to this strand
    }
    // mutant: lost-tenure-is-succeeded-at-once
    if (now < *end) {
        due_.set(of, *end);
        // mutant: skip-keep-alive-behind-an-idle-hold
        of.start_keep_alive();
        return;
    }
    auto const held = of.share_hold();
    of.notice_loss(now);
    end_tenure(*held, of, now);
    if (!held->current()) {
        settle(*held, {of.shared_from_this(), true, {}, true}, false, now);
    }
}

// A holder that is stuck has nothing renewed, and its client would learn of a loss when the lease
// ends: those who wait in the client would wait for that.
void holds::verify_later() {
    constexpr nanos patience = millis{1'000};
    if (!verify_timer_) {
        verify_timer_.emplace(client_.strand());
    }
    sleep_until(*verify_timer_, lease_clock::now() + patience);
    verify_timer_->async_wait([this, client = client_.shared_from_this()](error_code ec) {
        if (!ec) {
            for (auto& each : holds_) {
                each.verify_if_unconfirmed();
            }
        }
    });
}

}  // namespace holdfast::detail
