// The rounds of an acquisition of a quorum: whom it asks, and what the answers come to.

#include "acquire/quorum_acquire.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::detail {

namespace {

// What a majority needed to answer says how long others may need.
constexpr int straggler_factor = 2;
constexpr nanos least_straggler_time = millis{2};

}  // namespace

void quorum_acquire::begin_round() {
    auto const now = lease_clock::now();
    auto const nodes = what_.nodes.size();
    ++round_;
    round_began_ = now;
    pause_.reset();
    waits_for_stragglers_ = false;
    asked_again_ = false;
    tally_ = quorum_tally{nodes};
    wait_.on_round(now);
    fsm_.on_round();
    if (place_ && line_->is_first(*place_)) {
        line_->on_round(now);
    }
    if (!are_different_servers()) {
        perform(fsm_.on_ended(errc::invalid_options));
        return;
    }
    // Where no majority can be had, nothing is taken that others could use.
    sent_ = may_reach_majority(now);
    for (std::size_t i = 0; i < nodes; ++i) {
        auto const& each = what_.nodes[i];
        if (sent_ && each.counts(now)) {
            ask(i, now);
        } else {
            tally_.on_failed(i, each.why_not());
            wait_.on_not_asked(i, each.counts_from());
        }
    }
    judge();
}

bool quorum_acquire::may_reach_majority(time_point now) const noexcept {
    auto const& nodes = what_.nodes;
    auto const count = std::count_if(nodes.begin(), nodes.end(), [now](node const& each) {
        return each.counts(now);
    });
    return static_cast<std::size_t>(count) >= tally_.needed();
}

// As far as they say who they are: one server may have two addresses.
bool quorum_acquire::are_different_servers() const {
    auto const& nodes = what_.nodes;
    for (auto a = nodes.begin(); a != nodes.end(); ++a) {
        auto const& here = a->client->node();
        bool const twice = std::any_of(std::next(a), nodes.end(), [&](node const& b) {
            auto const& there = b.client->node();
            return here.up() && there.up() && here.run_id() != 0 && here.run_id() == there.run_id();
        });
        if (twice) {
            return false;
        }
    }
    return true;
}

void quorum_acquire::ask(std::size_t which, time_point now) {
    auto& of = parts_[which];
    auto const proposed = leading().nodes_clock().propose(last_token_, now);
    of.vote = std::make_shared<ballot>(ballot{proposed, now});
    auto answer = [self = shared_from_this(), which, round = round_](error_code ec, lease given) {
        if (self->round_ == round) {
            self->on_answer(which, ec, std::move(given));
        }
    };
    of.asked = what_.nodes[which].ask(
        {
            .terms = what_.nodes[which].terms,
            .who = what_.who,
            .holder = holder_executor_,
            .vote = of.vote,
        },
        *lead_,
        std::move(answer)
    );
}

void quorum_acquire::on_answer(std::size_t which, error_code ec, lease given) {
    auto& of = parts_[which];
    auto const now = lease_clock::now();
    of.asked.reset();
    auto const vote = std::exchange(of.vote, {});
    auto const said = vote && vote->reply ? *vote->reply : attempt_reply{};
    leading().nodes_clock().on_reply(said.server_time, now);
    last_token_ = std::max({last_token_, said.last_token, said.token});
    if (keeper_) {
        keeper_->on_late_answer(which, std::move(given));
        return;
    }
    if (fsm_.done()) {
        return;
    }
    if (ec) {
        tally_.on_failed(which, ec);
    } else if (!given) {
        tally_.on_refused(which, said.remaining);
    } else if (!what_.nodes[which].counts(now)) {
        // It was restarted since it was asked.
        tally_.on_failed(which, what_.nodes[which].why_not());
    } else {
        // Of a lease that its owner has joined, the token is that of the lease.
        tally_.on_granted(which, std::max(said.token, given.token()));
        of.held = std::move(given);
    }
    judge();
}

std::size_t quorum_acquire::valid_parts() const noexcept {
    return static_cast<std::size_t>(std::count_if(
        parts_.begin(),
        parts_.end(),
        [](part const& each) { return each.held.valid(); }
    ));
}

void quorum_acquire::judge() {
    using verdict = quorum_tally::verdict;
    if (fsm_.done() || !fsm_.in_round()) {
        return;
    }
    auto said = tally_.look();
    if (said == verdict::open) {
        wait_for_stragglers();
        return;
    }
    if (said == verdict::write_back) {
        write_back();
        return;
    }
    if (said == verdict::granted && valid_parts() < tally_.needed()) {
        // It took too long.
        said = verdict::not_reached;
    }
    auto const give_up_at = saturating_add(started_, what_.nodes.front().terms.request_timeout);
    auto const now = lease_clock::now();
    if (line_) {
        line_->on_round_over(said == verdict::busy || said == verdict::granted, round_began_);
    }
    perform(fsm_.on_verdict(said, tally_.cause(), sent_, give_up_at, now));
}

void quorum_acquire::write_back() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (!tally_.is_behind(i)) {
            continue;
        }
        tally_.on_raise_sent(i);
        auto done = [self = shared_from_this(), i, round = round_](bool raised) {
            if (self->round_ != round || self->fsm_.done()) {
                return;
            }
            if (raised) {
                self->tally_.on_raised(i);
            } else {
                self->tally_.on_failed(i, errc::unreachable);
            }
            self->judge();
        };
        what_.nodes[i].raise(parts_[i].held, tally_.token(), lead_, std::move(done));
    }
}

// A majority has said enough for a grant or against it, but neither yet.
void quorum_acquire::wait_for_stragglers() {
    if (!tally_.has_stragglers() || std::exchange(waits_for_stragglers_, true)) {
        return;
    }
    auto const now = lease_clock::now();
    auto const took = straggler_factor * (now - round_began_) + least_straggler_time;
    pause_.emplace(lead_->strand());
    sleep_until(*pause_, now + took);
    pause_->async_wait([weak = weak_from_this(), round = round_](error_code ec) {
        auto const self = weak.lock();
        if (self && !ec && self->round_ == round) {
            self->tally_.on_late();
            self->judge();
        }
    });
}

}  // namespace holdfast::detail
