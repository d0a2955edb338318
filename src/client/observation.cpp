#include "client/observation.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace holdfast::detail {

observation::observation(
    std::shared_ptr<client_state> client,
    std::shared_ptr<election_keys const> keys
)
    : look_loop{std::move(client), keys->lock},
      keys_{std::move(keys)} {}

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
    client_->on_strand([this, self = shared_from_this(), waiting] { enter(waiting); });
}

void observation::abandon() noexcept {
    try {
        client_->on_strand([self = shared_from_this()] {
            self->end_all(asio::error::operation_aborted);
            self->clear();
        });
    } catch (...) {
        // A destructor calls this. What waits goes on, and keeps this.
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
    begin();
    update();
}

// A client that listens to the lock's channel and not to the other one counts as one that waits for
// the lock and does not queue.
void observation::begin() {
    client_->electing().observers().add(shared_from_this());
    if (client_->hands_over(*on_) && !counted_channel_) {
        counted_channel_ = client_->subscribe(on_->waiters(), counted_);
    }
    listen(on_->channel());
    listen(keys_->leader);
}

void observation::drop_aborted() {
    std::erase_if(waiting_, [](auto const& one) { return !*one; });
}

bool observation::wanted() {
    drop_aborted();
    return !over_ && !waiting_.empty();
}

void observation::look(time_point) {
    auto const& settings = client_->settings();
    auto const timeout = request_timeout_for(settings, settings.lease);
    client_->exec(
        detail::look(*keys_, timeout),
        [this, self = shared_from_this()](exec_result const& result) { on_answer(result); }
    );
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
    auto const jitter = scaled(wait_queue_fsm::longest_jitter, client_->random_part());
    fsm_.on_busy(remaining, jitter, now);
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

void observation::end_all(error_code cause) {
    auto const waiting = std::exchange(waiting_, {});
    for (auto const& one : waiting) {
        one->complete(cause, leader_info{});
    }
}

void observation::clear() noexcept {
    over_ = true;
    client_->electing().observers().remove(*this);
    look_loop::clear();
    counted_channel_ = {};
    // Handlers may own the last reference to anything.
    auto const waiting = std::exchange(waiting_, {});
}

}  // namespace holdfast::detail
