#include "client/observation.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

namespace holdfast::detail {

namespace {

constexpr auto longest_jitter = wait_queue_fsm::longest_jitter;

}  // namespace

observation::observation(
    std::shared_ptr<client_state> client,
    std::shared_ptr<election_keys const> keys
)
    : client_{std::move(client)},
      keys_{std::move(keys)},
      fsm_{
          client_->settings().fallback_poll_interval,
          client_->settings().reconnect_min,
          std::max<nanos>(client_->settings().reconnect_max, backoff::refusals)
      } {}

void observation::next(leader_handler handler) {
    if (client_->gone()) {
        return;
    }
    auto const waiting = std::make_shared<pending_handler<error_code, leader_info>>(
        std::move(handler),
        client_->executor()
    );
    if (!keys_->lock->valid()) {
        waiting->complete(errc::invalid_name, leader_info{});
        return;
    }
    abort_on_cancel<leader_info>(waiting, client_);
    client_->on_strand([self = shared_from_this(), waiting] { self->enter(waiting); });
}

void observation::abandon() noexcept {
    try {
        client_->on_strand([self = shared_from_this()] {
            self->end_all(asio::error::operation_aborted);
            self->clear();
        });
    } catch (...) {
        // Out of memory: what waits goes on, and keeps this.
    }
}

void observation::enter(waiting_handler waiting) {
    drop_aborted();
    if (client_->stopping() || over_) {
        waiting->complete(errc::client_stopped, leader_info{});
        return;
    }
    if (auto const cause = client_->failure(*keys_->lock);
        cause && !client_->can_execute(*keys_->lock)) {
        waiting->complete(cause, leader_info{});
        return;
    }
    if (waiting_.size() >= client_->settings().max_waiters) {
        waiting->complete(errc::too_many_waiters, leader_info{});
        return;
    }
    waiting_.push_back(std::move(waiting));
    try {
        begin();
    } catch (std::exception const&) {
        end_all(asio::error::no_memory);
        return;
    }
    update();
}

void observation::begin() {
    listen();
    if (!std::exchange(begun_, true)) {
        client_->electing().add(shared_from_this());
        if (!client_->can_execute(*keys_->lock)) {
            fsm_.on_disconnected();
        }
    }
}

// A client that listens to the lock's channel and not to the other one counts as one that waits for
// the lock and does not queue.
void observation::listen() {
    auto const& lock = *keys_->lock;
    if (client_->hands_over(lock) && !counted_channel_) {
        counted_channel_ = client_->subscribe(std::string{lock.waiters()}, counted_);
    }
    if (!releases_.listens) {
        releases_.listens = client_->subscribe(std::string{lock.channel()}, releases_);
    }
    if (!announcements_.listens) {
        announcements_.listens = client_->subscribe(keys_->leader, announcements_);
    }
}

void observation::drop_aborted() {
    std::erase_if(waiting_, [](auto const& one) { return !*one; });
}

// Without memory it looks again later.
void observation::update() noexcept {
    drop_aborted();
    auto const at = fsm_.attempt_at();
    if (over_ || waiting_.empty() || !at) {
        return;
    }
    auto const now = lease_clock::now();
    try {
        if (*at <= now) {
            send_look(now);
        } else {
            arm(*at);
        }
    } catch (std::exception const&) {
        fsm_.on_setback(client_->random_part(), now);
        try {
            arm(now + longest_jitter);
        } catch (std::exception const&) {
            // The next event looks again.
        }
    }
}

void observation::arm(time_point at) {
    if (!timer_) {
        timer_.emplace(client_->strand());
    }
    sleep_until(*timer_, at);
    timer_->async_wait([weak = weak_from_this(), client = client_](error_code ec) {
        if (auto const self = weak.lock(); self && !ec) {
            self->update();
        }
    });
}

void observation::send_look(time_point now) {
    auto const& settings = client_->settings();
    auto const timeout = request_timeout_for(settings, settings.lease);
    auto what = look(*keys_, timeout);
    client_->exec(std::move(what), [self = shared_from_this()](exec_result result) {
        self->on_answer(result);
    });
    fsm_.on_attempt_sent(now);
}

void observation::on_answer(exec_result const& result) {
    if (over_) {
        return;
    }
    auto const now = lease_clock::now();
    switch (result.status) {
        case exec_status::replied:
            if (auto found = read_look(result.reply)) {
                on_found(std::move(*found), now);
            } else {
                fsm_.on_undecided();
                end_all(errc::corrupt_state);
            }
            break;
        case exec_status::failed:
            fsm_.on_undecided();
            end_all(result.error);
            break;
        case exec_status::refused:
        case exec_status::not_sent:
        case exec_status::unknown:
        case exec_status::unconfirmed: fsm_.on_setback(client_->random_part(), now); break;
    }
    update();
}

void observation::on_found(leader_look found, time_point now) {
    drop_aborted();
    if (waiting_.empty()) {
        // The answer may be old when the next operation starts, which therefore asks again.
        fsm_.on_undecided();
        return;
    }
    // While the lock is free, there is no end to wait for: the next leader is announced.
    auto const remaining = found.held ? found.remaining : std::optional{millis::max()};
    fsm_.on_busy(remaining, scaled(longest_jitter, client_->random_part()), now);
    if (found.place < newest_) {
        // A replica that had not got the last leaders has become the primary: none of them leads.
        found.place = {};
        found.leader = {};
    }
    if (reported_ == found.place) {
        return;
    }
    reported_ = found.place;
    newest_ = std::max(newest_, found.place);
    auto const first = waiting_.front();
    waiting_.pop_front();
    first->complete({}, std::move(found.leader));
}

void observation::on_news() {
    fsm_.on_news();
    update();
}

void observation::on_confirmed(listener& which, bool again) {
    which.confirmed = true;
    if (announcements_.confirmed && releases_.confirmed) {
        auto const delay = again ? scaled(longest_jitter, client_->random_part()) : nanos{0};
        fsm_.on_subscribed(delay, lease_clock::now());
        update();
    }
}

void observation::on_unconfirmed(listener& which) {
    which.confirmed = false;
    fsm_.on_unsubscribed(lease_clock::now());
    update();
}

// The next one that waits asks for it again.
void observation::on_refused(listener& which, error_code cause) {
    auto const refused = std::exchange(which.listens, {});
    which.confirmed = false;
    end_all(cause);
}

void observation::on_connected() {
    fsm_.on_connected(scaled(longest_jitter, client_->random_part()), lease_clock::now());
    update();
}

void observation::on_disconnected() {
    fsm_.on_disconnected();
}

void observation::end_all(error_code cause) {
    auto const waiting = std::exchange(waiting_, {});
    for_each_in_spite_of_exceptions(waiting, [cause](auto const& one) {
        one->complete(cause, leader_info{});
    });
}

void observation::clear() noexcept {
    over_ = true;
    timer_.reset();
    announcements_.listens = {};
    releases_.listens = {};
    counted_channel_ = {};
    // Handlers may own the last reference to anything.
    auto const waiting = std::exchange(waiting_, {});
}

}  // namespace holdfast::detail
