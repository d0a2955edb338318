// When the holders' executors begin to look after what a client holds.

#include "lease/holds.hpp"
#include "lease/shared_hold.hpp"

#include <iterator>

namespace holdfast::detail {

void holds::keep_alive_later(time_point at) {
    if (armed_) {
        return;
    }
    if (!timer_) {
        timer_.emplace(client_.strand());
    }
    sleep_until(*timer_, at);
    timer_->async_wait([this, client = client_.shared_from_this()](error_code ec) {
        armed_ = false;
        if (!ec) {
            start_keep_alives();
        }
    });
    armed_ = true;
}

void holds::start_keep_alives() {
    auto const now = lease_clock::now();
    start_keep_alives_of_sharers(now);
    // They stand in the order of their times: the young ones are the last.
    auto const since = [](hold const& each) {
        if (each.shared()) {
            return static_cast<shared_hold const&>(each).granted_at();
        }
        return each.current() ? each.current()->since() : time_point::min();
    };
    auto first = holds_.end();
    while (first != holds_.begin() && since(*std::prev(first)) > kept_until_) {
        --first;
    }
    for (; first != holds_.end(); ++first) {
        auto const current = first->current();
        if (!current) {
            continue;
        }
        auto const began = since(*first);
        if (began + young / 2 > now) {
            keep_alive_later(began + young);
            return;
        }
        try {
            if (!first->shared()) {
                current->start_keep_alive();
                if (current->deadline() < first->fsm().confirmed().until) {
                    ends_.watch(current);
                }
            }
        } catch (...) {
            keep_alive_later(now + young);
            throw;
        }
        kept_until_ = began;
    }
}

void holds::start_keep_alives_of_sharers(time_point now) {
    for (; !young_sharers_.empty(); young_sharers_.pop_front()) {
        auto const first = young_sharers_.front().lock();
        if (!first) {
            continue;
        }
        if (first->since() + young / 2 > now) {
            keep_alive_later(first->since() + young);
            return;
        }
        try {
            first->start_keep_alive();
        } catch (...) {
            keep_alive_later(now + young);
            throw;
        }
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
