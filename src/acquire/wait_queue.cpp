#include "acquire/wait_queue.hpp"

#include "acquire/acquire_op.hpp"
#include "acquire/acquisitions.hpp"
#include "runtime/client_context.hpp"
#include "runtime/pending_handler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace holdfast::detail {

namespace {

// Spreads those who wait for the end of the same lease, or come back after the same break.
constexpr nanos longest_jitter = millis{15};

// A waiter that waits longer for a lock of its own client may wait for itself.
nanos long_wait(acquire_op const& op) {
    return std::clamp<nanos>(3 * nanos{op.terms().lease}, millis{3'000}, millis{10'000});
}

}  // namespace

wait_queue::wait_queue(acquisitions& all, std::shared_ptr<target const> on)
    : all_{all},
      on_{std::move(on)},
      fsm_{
          all.client().settings().fallback_poll_interval,
          all.client().settings().reconnect_min,
          all.client().settings().reconnect_max
      } {
    if (!all_.client().can_execute()) {
        fsm_.on_disconnected();
    }
}

void wait_queue::join(std::shared_ptr<acquire_op> op) {
    bool const first = waiters_.empty();
    auto& joined = *op;
    joined.place = waiters_.insert(waiters_.end(), std::move(op));
    joined.queue = this;
    all_.client().count().waiters_now.add();
    if (first) {
        // It asks, whatever was known before.
        fsm_.on_news();
    } else {
        count_wait(joined);
        fsm_.on_newcomer(joined.brief(), lease_clock::now());
    }
    update();
}

void wait_queue::count_wait(acquire_op& op) {
    if (!std::exchange(op.has_waited, true)) {
        all_.client().count().waits.add();
    }
}

void wait_queue::leave(acquire_op& op) noexcept {
    all_.client().count().waiters_now.subtract();
    op.queue = nullptr;
    auto const keeps = std::move(*op.place);
    waiters_.erase(op.place);
    if (waiters_.empty()) {
        // Without a subscription it is closed at once.
        empty_since_ = subscribed() ? lease_clock::now() : time_point{};
        warned_of_own_lock_ = false;
        timer_.reset();
        armed_for_ = time_point::max();
    }
}

void wait_queue::update() noexcept {
    try {
        if (waiters_.empty()) {
            all_.queues().on_empty(*this);
            return;
        }
        if (fsm_.wants_notifications() && !subscription_) {
            subscription_ = all_.client().subscribe(on_->channel, *this);
        }
        attempt_or_sleep();
    } catch (...) {
        // Out of memory.
        try {
            arm(lease_clock::now() + longest_jitter);
        } catch (...) {
            // The next event of this queue looks again.
        }
    }
}

void wait_queue::attempt_or_sleep() {
    auto const now = lease_clock::now();
    if (now >= warn_at()) {
        warn_of_own_lock();
    }
    auto const at = fsm_.attempt_at();
    if (!at) {
        return;
    }
    if (*at <= now) {
        fsm_.on_attempt_sent(now);
        try {
            waiters_.front()->attempt(now);
        } catch (...) {
            fsm_.on_setback(all_.client().random_part(), now);
            throw;
        }
    } else if (auto const next = std::min(*at, warn_at()); next != time_point::max()) {
        arm(next);
    }
}

void wait_queue::arm(time_point at) {
    // A timer that rings early costs a look; setting it anew for each grant would cost more.
    if (at >= armed_for_) {
        return;
    }
    if (!timer_) {
        timer_.emplace(all_.client().strand());
    }
    sleep_until(*timer_, at);
    timer_->async_wait([self = weak_from_this(),
                        client = all_.client().shared_from_this()](error_code ec) {
        if (auto const queue = self.lock(); queue && !ec) {
            queue->armed_for_ = time_point::max();
            queue->update();
        }
    });
    armed_for_ = at;
}

void wait_queue::on_answer(attempt_answer answer, attempt_reply const& reply, time_point now) {
    auto& client = all_.client();
    auto& head = *waiters_.front();
    switch (answer) {
        case attempt_answer::granted: fsm_.on_granted(head.terms().lease, now); break;
        case attempt_answer::busy: {
            auto const jitter = scaled(longest_jitter, client.random_part()) + millis{1};
            fsm_.on_busy(reply.remaining, jitter, now);
            client.count().refusals.add();
            count_wait(head);
            if (!reply.remaining && !std::exchange(warned_of_expiry_, true)) {
                client.log(
                    log_level::error,
                    fmt::format(
                        "the lock \"{}\" has no expiry: it stays held until its key is deleted",
                        escaped(on_->lock)
                    )
                );
            }
            break;
        }
        case attempt_answer::refused: fsm_.on_refused(client.random_part(), now); break;
        case attempt_answer::unknown: fsm_.on_setback(client.random_part(), now); break;
        case attempt_answer::failed: fsm_.on_undecided(); break;
        case attempt_answer::not_sent:
            fsm_.on_undecided();
            if (!client.can_execute()) {
                fsm_.on_disconnected();
            }
            break;
    }
}

void wait_queue::on_left(bool undecided) noexcept {
    if (undecided) {
        fsm_.on_undecided();
    }
}

void wait_queue::on_news() {
    fsm_.on_news();
    update();
}

void wait_queue::on_confirmed(bool again) {
    confirmed_ = true;
    auto const delay = again ? scaled(longest_jitter, all_.client().random_part()) : nanos{0};
    fsm_.on_subscribed(delay, lease_clock::now());
    update();
}

void wait_queue::on_unconfirmed() {
    confirmed_ = false;
    fsm_.on_unsubscribed(lease_clock::now());
    update();
}

void wait_queue::on_refused(error_code cause) {
    auto const self = shared_from_this();
    end_all(cause);
    all_.queues().close(*this);
}

void wait_queue::on_connected(nanos delay) {
    fsm_.on_connected(delay, lease_clock::now());
    update();
}

void wait_queue::on_disconnected() {
    fsm_.on_disconnected();
}

void wait_queue::end_all(error_code cause) {
    auto const self = shared_from_this();
    fsm_.on_undecided();
    while (!waiters_.empty()) {
        auto const op = waiters_.front();
        try {
            op->end(cause);
        } catch (...) {
            // Out of memory while its handler was posted: the others are told.
        }
    }
    update();
}

time_point wait_queue::warn_at() const noexcept {
    auto const& head = *waiters_.front();
    return warned_of_own_lock_ ? time_point::max() : head.started() + long_wait(head);
}

void wait_queue::warn_of_own_lock() {
    warned_of_own_lock_ = true;
    if (all_.held().any_of(*on_)) {
        all_.client().log(
            log_level::warning,
            fmt::format(
                "an acquisition of \"{}\" has waited for long while this client itself holds the "
                "lock: does it wait for a lease of its own, or for one whose holder waits for it?",
                escaped(on_->lock)
            )
        );
    }
}

}  // namespace holdfast::detail
