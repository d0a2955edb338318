#include "ops/waiting_room.hpp"

#include "ops/acquire_op.hpp"
#include "ops/client_state.hpp"

#include <fmt/format.h>

#include <utility>

namespace holdfast::detail {

namespace {

// Spreads those who wait for the end of the same lease, or come back after the same break.
constexpr nanos longest_jitter = millis{15};

}  // namespace

waiting_room::waiting_room(client_state& client, std::shared_ptr<key_names const> key)
    : client_{client},
      key_{std::move(key)},
      fsm_{
          client.settings().fallback,
          client.settings().reconnect_min,
          client.settings().reconnect_max
      } {
    if (!client.commands_up()) {
        fsm_.on_disconnected();
    }
}

void waiting_room::join(std::shared_ptr<acquire_op> op) {
    if (waiters_.empty()) {
        // The first one asks, whatever was known before.
        fsm_.on_news();
    } else {
        count_wait(*op);
    }
    client_.count().waiters_now.add();
    op->room = this;
    op->place = waiters_.insert(waiters_.end(), op);
    update();
}

void waiting_room::count_wait(acquire_op& op) {
    if (!std::exchange(op.has_waited, true)) {
        client_.count().waits.add();
    }
}

void waiting_room::leave(acquire_op& op) {
    client_.count().waiters_now.subtract();
    waiters_.erase(op.place);
    op.room = nullptr;
    if (waiters_.empty()) {
        empty_since_ = lease_clock::now();
        timer_.reset();
        armed_for_ = time_point::max();
    }
}

void waiting_room::update() {
    if (waiters_.empty()) {
        client_.rooms().on_room_empty(*this);
        return;
    }
    if (fsm_.wants_notices() && !wants_subscription_) {
        wants_subscription_ = true;
        client_.rooms().subscribe(*this);
    }
    if (auto const at = fsm_.attempt_at()) {
        if (*at <= lease_clock::now()) {
            fsm_.on_attempt_sent();
            waiters_.front()->attempt();
        } else if (*at != time_point::max()) {
            arm(*at);
        }
    }
}

void waiting_room::arm(time_point at) {
    // A timer that rings early costs a look; setting it anew for each grant would cost more.
    if (at >= armed_for_) {
        return;
    }
    if (!timer_) {
        timer_.emplace(client_.strand());
    }
    armed_for_ = at;
    sleep_until(*timer_, at);
    timer_->async_wait([self = weak_from_this(),
                        client = client_.shared_from_this()](error_code ec) {
        if (auto const room = self.lock(); room && !ec) {
            room->armed_for_ = time_point::max();
            room->update();
        }
    });
}

void waiting_room::on_answer(attempt_answer answer, script_reply const& reply) {
    auto const now = lease_clock::now();
    auto& head = *waiters_.front();
    switch (answer) {
        case attempt_answer::granted: fsm_.on_granted(head.terms().lease, now); break;
        case attempt_answer::busy: {
            auto const remaining = reply.integer(1, -1);
            auto const jitter = scaled(longest_jitter, client_.random_part()) + millis{1};
            fsm_.on_busy(remaining, jitter, now);
            client_.count().refusals.add();
            count_wait(head);
            if (remaining < 0 && !std::exchange(warned_, true)) {
                client_.log(
                    log_level::error,
                    fmt::format(
                        "the lock \"{}\" has no expiry: nobody gets it until its key is deleted",
                        escaped(key_->lock)
                    )
                );
            }
            break;
        }
        case attempt_answer::refused: fsm_.on_refused(client_.random_part(), now); break;
        case attempt_answer::unknown: fsm_.on_setback(client_.random_part(), now); break;
        case attempt_answer::failed: fsm_.on_undecided(); break;
        case attempt_answer::not_sent:
            fsm_.on_undecided();
            if (!client_.commands_up()) {
                fsm_.on_disconnected();
            }
            break;
    }
}

void waiting_room::on_left(bool undecided) {
    if (undecided) {
        fsm_.on_undecided();
    }
    update();
}

void waiting_room::on_news() {
    fsm_.on_news();
    update();
}

void waiting_room::on_subscribed(bool again) {
    confirmed_ = true;
    auto const delay = again ? scaled(longest_jitter, client_.random_part()) : nanos{0};
    fsm_.on_subscribed(delay, lease_clock::now());
    update();
}

void waiting_room::on_notices_down() {
    confirmed_ = false;
    fsm_.on_unsubscribed(lease_clock::now());
    update();
}

void waiting_room::on_commands_up() {
    fsm_.on_connected();
    update();
}

void waiting_room::on_commands_down() {
    fsm_.on_disconnected();
}

void waiting_room::end_all(error_code cause) {
    auto const self = shared_from_this();
    auto const all = waiters_;
    for (auto const& op : all) {
        op->end(cause);
    }
    fsm_.on_undecided();
    update();
}

}  // namespace holdfast::detail
