#include "acquire/wait_queue.hpp"

#include "acquire/acquire_op.hpp"
#include "lease/hold.hpp"
#include "lease/tenure.hpp"
#include "runtime/client_context.hpp"
#include "runtime/pending_handler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace holdfast::detail {

namespace {

constexpr auto longest_jitter = wait_queue_fsm::longest_jitter;

}  // namespace

wait_queue::wait_queue(acquisitions& all, std::shared_ptr<target const> on)
    : all_{all},
      on_{std::move(on)},
      fsm_{
          all.client().settings().fallback_poll_interval,
          all.client().settings().reconnect_min,
          std::max<nanos>(all.client().settings().reconnect_max, backoff::refusals)
      } {
    if (!all_.client().may_attempt(*on_)) {
        fsm_.on_disconnected();
    }
    if (all_.client().clustered() && on_->speaks->hands_over()) {
        channel_.emplace(all_, *this);
    }
}

client_channel& wait_queue::own_channel() noexcept {
    return channel_ ? *channel_ : all_.channel();
}

void wait_queue::join(std::shared_ptr<acquire_op> op, time_point now) {
    bool const first = waiters_.empty();
    auto& joined = *op;
    waiters_.push_back(joined, std::move(op));
    joined.queue = this;
    limits_ += joined.on()->limit > 0 ? 1 : 0;
    all_.client().count().waiters_now.add();
    if (auto* const held = own(now)) {
        count_wait(joined);
        all_.held().refill_ahead(*held, now);
    } else if (first) {
        // It asks, whatever was known before.
        fsm_.on_news();
    } else {
        count_wait(joined);
        fsm_.on_newcomer(joined.brief(), now);
    }
    update(now);
}

void wait_queue::count_wait(acquire_op& op) {
    if (!std::exchange(op.has_waited, true)) {
        all_.client().count().waits.add();
        op.tell_of_wait();
    }
}

void wait_queue::leave(acquire_op& op) {
    all_.client().count().waiters_now.subtract();
    op.queue = nullptr;
    limits_ -= op.on()->limit > 0 ? 1 : 0;
    auto const keeps = waiters_.remove(op);
    if (waiters_.empty()) {
        drop_candidate();
        // Without a subscription that serves the next waiter, too, it is closed at once.
        empty_since_ = lingers() ? lease_clock::now() : time_point{};
        own_lock_.reset();
    }
}

void wait_queue::on_overdue(std::shared_ptr<acquire_op> const& op) {
    auto const is_over = [](std::weak_ptr<acquire_op> const& each) {
        auto const there = each.lock();
        return !there || !there->overdue();
    };
    // The oldest ones go first: nobody is in it for longer than `longest_overtime`.
    while (!overdue_.empty() && is_over(overdue_.front())) {
        overdue_.pop_front();
    }
    overdue_.push_back(op);
    if (!fsm_.asked_since(op->started())) {
        fsm_.on_news();
    }
    update();
}

void wait_queue::tell_overdue(attempt_answer answer, error_code cause, time_point sent_at) {
    std::erase_if(overdue_, [&](auto const& each) {
        auto const op = each.lock();
        if (op && op->overdue() && sent_at >= op->started()) {
            op->on_attempt_answered(answer, cause);
        }
        return !op || !op->overdue();
    });
}

void wait_queue::update(time_point now) {
    if (waiters_.empty()) {
        all_.queues().on_empty(*this);
        return;
    }
    listen(now);
    attempt_or_sleep(now);
}

// The lock's own channel is subscribed to last: its confirmation is that of the others, too.
// Waiters behind a holder of this client listen as well: a notification tells them that it lost the
// lock.
void wait_queue::listen(time_point now) {
    if (!fsm_.wants_notifications() && !own(now)) {
        return;
    }
    auto& client = all_.client();
    if (client.hands_over(*on_)) {
        own_channel().open();
        if (!waiters_channel_) {
            waiters_channel_ = client.subscribe(on_->waiters(), own_channel().counted());
        }
    } else if (on_->speaks->names_turns() && !waiters_channel_) {
        waiters_channel_ = client.subscribe(on_->waiters(), turns_);
    }
    if (!subscription_) {
        auto channel = on_->speaks->queues_each()
                           ? on_->speaks->channel_of_waiter(*on_, the_candidate()->id)
                           : on_->channel();
        subscription_ = client.subscribe(std::move(channel), *this);
    }
}

void wait_queue::attempt_or_sleep(time_point now) {
    if (now >= look_for_own_at()) {
        own_lock_.look(all_, *on_, front().terms(), front().started(), now);
    }
    // While this client has the lock, its waiters get it from there; if it is lost, from the
    // server.
    auto const* const held = own(now);
    auto at = held ? std::optional{saturating_add(held->fsm().confirmed().until, millis{1})}
                   : fsm_.attempt_at();
    if (!at) {
        return;
    }
    if (!held) {
        at = std::min(*at, orphans_.due(front().orphan_after()));
    }
    if (*at <= now) {
        send_attempt(now);
    } else if (auto const next = std::min(*at, look_for_own_at()); next != time_point::max()) {
        arm(next);
    }
}

void wait_queue::arm(time_point at) {
    // A timer that rings early costs a look. Setting it anew for each grant would cost more, also
    // when the last waiter goes: its handler would run before that waiter's.
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
            if (!queue->empty()) {
                queue->update();
            }
        }
    });
    armed_for_ = at;
}

bool wait_queue::busy_since(time_point start) const noexcept {
    auto const* const held = own(lease_clock::now());
    return (held && held->current()) || fsm_.busy_since(start);
}

void wait_queue::on_news() {
    fsm_.on_news();
    update();
}

void wait_queue::on_confirmed(bool again) {
    confirmed_ = true;
    said_ = false;
    if (auto* const held = own(lease_clock::now())) {
        held->fsm().on_unheard();
        all_.held().refill_ahead(*held, lease_clock::now());
    }
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
    while (!waiters_.empty()) {
        auto const op = waiters_.front();
        op->end(cause);
    }
    fsm_.on_undecided();
    update();
}

time_point wait_queue::look_for_own_at() const noexcept {
    auto const& head = *waiters_.front();
    return own_lock_.due(head.started(), head.terms().lease);
}

}  // namespace holdfast::detail
