#include "acquire/quorum_acquire.hpp"

#include "acquire/end_acquire.hpp"
#include "lease/lease_group.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::detail {

quorum_acquire::quorum_acquire(
    std::shared_ptr<client_context> lead,
    request what,
    guarded_executor holder_executor,
    pending_handler<error_code, quorum_lease> handler
)
    : lead_{std::move(lead)},
      what_{std::move(what)},
      holder_executor_{std::move(holder_executor)},
      handler_{std::move(handler)},
      fsm_{what_.how_long = effective_patience(what_.how_long, what_.limit)},
      wait_{what_.nodes.size(), lead_->settings().fallback_poll_interval},
      tally_{what_.nodes.size()},
      started_{lease_clock::now()},
      parts_(what_.nodes.size()) {}

void quorum_acquire::accept_cancellation() {
    auto const cancel = [](quorum_acquire& self, asio::cancellation_type type) {
        self.on_cancel(type);
    };
    on_cancel_in_strand(handler_, weak_from_this(), lead_, cancel);
}

void quorum_acquire::start() {
    if (fsm_.done()) {
        return;
    }
    if (leading().closed()) {
        perform(fsm_.on_ended(errc::client_stopped));
        return;
    }
    if (what_.how_long == patience::limited) {
        arm_limit(saturating_add(started_, what_.limit));
    }
    if (what_.how_long == patience::one_attempt) {
        begin_round();
        return;
    }
    line_ = leading().lines().of(what_.nodes);
    if (what_.who) {
        line_->note_owner(*what_.who, weak_from_this());
        if (line_->has_lock(*what_.who)) {
            // The attempt joins that lease. In the line it would stand behind operations that wait
            // for the lease to end.
            begin_round();
            return;
        }
    }
    enter_line();
    if (fsm_.done()) {
        return;
    }
    if (line_->is_first(*place_)) {
        begin_round();
    } else {
        line_->ask_again(is_brief(what_.how_long, what_.limit));
    }
}

void quorum_acquire::enter_line() {
    if (line_->size() >= lead_->settings().max_waiters) {
        perform(fsm_.on_ended(errc::too_many_waiters));
        return;
    }
    place_ = line_->enter(shared_from_this());
    lead_->count().waiters_now.add();
}

void quorum_acquire::leave_line() {
    if (auto const at = std::exchange(place_, {})) {
        lead_->count().waiters_now.subtract();
        line_->leave(*at);
    }
}

void quorum_acquire::perform(quorum_acquire_fsm::action const& next) {
    auto const self = shared_from_this();
    switch (next.what) {
        case step::wait: break;
        case step::retry: retry(); break;
        case step::deliver: deliver(); break;
        case step::finish: finish(next.error); break;
        case step::abort: finish(asio::error::operation_aborted); break;
    }
}

// Between rounds

void quorum_acquire::retry() {
    give_back();
    if (line_ && !place_) {
        enter_line();
        if (fsm_.done()) {
            return;
        }
    }
    bool hears = true;
    if (line_) {
        line_->listen(what_.nodes);
        hears = line_->hears();
    }
    wait_.on_lost(tally_, hears, lead_->random_part(), lease_clock::now());
    if (!line_ || line_->is_first(*place_) || asked_again_) {
        arm_retry();
    } else {
        pause_.reset();
    }
}

void quorum_acquire::arm_retry() {
    if (!pause_) {
        pause_.emplace(lead_->strand());
    }
    sleep_until(*pause_, std::min(wait_.attempt_at(), look_for_own_at()));
    // One that stands in no line lives by its timer.
    auto keeps = place_ ? nullptr : shared_from_this();
    pause_->async_wait([weak = weak_from_this(), keeps = std::move(keeps)](error_code ec) {
        auto const self = weak.lock();
        if (self && !ec && !self->fsm_.done() && !self->fsm_.in_round()) {
            self->begin_round_or_look();
        }
    });
}

time_point quorum_acquire::look_for_own_at() const noexcept {
    return own_lock_.due(started_, what_.nodes.front().terms.lease);
}

void quorum_acquire::begin_round_or_look() {
    auto const now = lease_clock::now();
    auto const& first = what_.nodes.front();
    if (now >= look_for_own_at()) {
        own_lock_.look(leading(), *first.on, first.terms, started_, now);
    }
    if (now >= wait_.attempt_at()) {
        begin_round();
    } else {
        arm_retry();
    }
}

void quorum_acquire::on_turn() {
    if (!fsm_.done() && !fsm_.in_round() && !pause_) {
        begin_round();
    }
}

void quorum_acquire::on_news(std::size_t which) {
    auto const before = wait_.attempt_at();
    wait_.on_news(which, lead_->random_part(), lease_clock::now());
    if (!fsm_.done() && !fsm_.in_round() && pause_ && wait_.attempt_at() != before) {
        arm_retry();
    }
}

void quorum_acquire::on_newcomer(bool brief) {
    asked_again_ = true;
    wait_.on_newcomer(brief, lease_clock::now());
    if (!fsm_.done() && !fsm_.in_round()) {
        arm_retry();
    }
}

void quorum_acquire::on_busy() {
    if (!fsm_.overdue() || fsm_.in_round()) {
        return;
    }
    if (line_->busy_since(started_)) {
        on_time_up();
    } else {
        // The round had begun before.
        line_->on_overdue(weak_from_this());
    }
}

void quorum_acquire::on_ended(error_code cause) {
    perform(fsm_.on_ended(cause));
}

// The end

void quorum_acquire::arm_limit(time_point at) {
    if (!limit_) {
        limit_.emplace(lead_->strand());
    }
    sleep_until(*limit_, at);
    limit_->async_wait([weak = weak_from_this()](error_code ec) {
        if (auto const self = weak.lock(); self && !ec) {
            self->on_time_up();
        }
    });
}

void quorum_acquire::on_time_up() {
    auto const now = lease_clock::now();
    bool const busy = line_ && line_->busy_since(started_);
    perform(fsm_.on_time_up(busy, line_ && may_reach_majority(now)));
    if (!fsm_.overdue()) {
        return;
    }
    arm_limit(saturating_add(now, longest_overtime(what_.nodes.front().terms)));
    line_->on_overdue(weak_from_this());
    if (place_ && !line_->asked_since(started_)) {
        line_->ask_again(true);
    }
}

// A node that cannot be asked before its connection is up, or `config::lock_delay` is over, has
// nothing in flight: its part ends at once. What the other nodes answer is waited for.
void quorum_acquire::on_cancel(asio::cancellation_type type) {
    auto const next = fsm_.on_cancel(request_of(type));
    if (next.what == step::wait && !fsm_.done()) {
        cancel_what_is_asked(type);
    }
    perform(next);
}

void quorum_acquire::cancel_what_is_asked(asio::cancellation_type type) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        what_.nodes[i].cancel(parts_[i].asked, type);
    }
}

void quorum_acquire::give_back() {
    ++round_;
    cancel_what_is_asked(asio::cancellation_type::terminal);
    for (auto& each : parts_) {
        each = {};
    }
}

quorum_lease quorum_acquire::make_lease(std::shared_ptr<quorum_line> line) {
    std::vector<lease> held(parts_.size());
    std::vector<std::weak_ptr<acquire_op>> asked(parts_.size());
    // Another lease of the same owner may have been given out since it joined the nodes' leases.
    auto token = tally_.token();
    for (auto const& each : parts_) {
        token = each.held ? std::max(token, lease_access::quorum_token(each.held)) : token;
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (parts_[i].held) {
            lease_access::raise_token(parts_[i].held, token);
        }
        held[i] = std::move(parts_[i].held);
        asked[i] = parts_[i].asked;
    }
    auto const group = std::make_shared<lease_group>(lead_, std::move(held), tally_.needed());
    keeper_ = std::make_shared<quorum_keeper>(
        lead_,
        quorum_keeper::quorum{what_.nodes, what_.who, token, lease_clock::now(), line},
        group,
        std::move(asked)
    );
    group->set_keeper(keeper_);
    if (line) {
        line->on_grant_to(*what_.who, group);
    }
    return lease_group::make_lease(group, token);
}

void quorum_acquire::deliver() {
    auto granted = make_lease(what_.who ? leading().lines().of(what_.nodes) : nullptr);
    end();
    end_acquire(handler_, what_.how_long, {}, std::move(granted));
}

void quorum_acquire::finish(error_code ec) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        // One that was granted something is told to have given it back.
        if (!parts_[i].held) {
            what_.nodes[i].tell_of_refusal(ec, lease_clock::now() - started_);
        }
    }
    give_back();
    end();
    end_acquire(handler_, what_.how_long, ec, quorum_lease{});
}

void quorum_acquire::end() {
    holder_executor_ = {};
    limit_.reset();
    pause_.reset();
    leave_line();
}

}  // namespace holdfast::detail
