#include "acquire/quorum_acquire.hpp"

#include "lease/lease_group.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace holdfast::detail {

namespace {

// What a majority needed to answer says how long others may need.
constexpr int straggler_factor = 2;
constexpr nanos least_straggler_time = millis{2};

}  // namespace

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
    handler_.on_cancel([weak = weak_from_this(), client = lead_](asio::cancellation_type type) {
        if (type == asio::cancellation_type::none) {
            return;
        }
        client->on_strand([weak, type] {
            if (auto const self = weak.lock()) {
                self->on_cancel(type);
            }
        });
    });
}

template <class F>
void quorum_acquire::guarded(F f) {
    try {
        f();
    } catch (std::exception const&) {
        // Out of memory.
        perform(fsm_.on_ended(asio::error::no_memory));
    }
}

void quorum_acquire::start() {
    guarded([this] {
        if (fsm_.done()) {
            return;
        }
        if (leading().closed()) {
            perform(fsm_.on_ended(errc::client_stopped));
            return;
        }
        if (what_.how_long == patience::limited) {
            arm_limit();
        }
        if (what_.how_long == patience::one_attempt) {
            begin_round();
            return;
        }
        enter_line();
        if (!fsm_.done() && line_->is_first(*place_)) {
            begin_round();
        }
    });
}

// An owner may wait for what he holds himself, behind others who wait for him: he has a line of his
// own.
void quorum_acquire::enter_line() {
    line_ = leading().lines().of(what_.nodes, what_.who.has_value());
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

// Rounds

void quorum_acquire::begin_round() {
    auto const now = lease_clock::now();
    auto const nodes = what_.nodes.size();
    ++round_;
    round_began_ = now;
    pause_.reset();
    waits_for_stragglers_ = false;
    tally_ = quorum_tally{nodes};
    wait_.on_round(now);
    fsm_.on_round();
    if (!are_different_servers()) {
        perform(fsm_.on_ended(errc::invalid_options));
        return;
    }
    std::size_t count = 0;
    for (auto const& each : what_.nodes) {
        count += each.counts(now) ? 1U : 0U;
    }
    // Where no majority can be had, nothing is taken that others could use.
    sent_ = count >= tally_.needed();
    for (std::size_t i = 0; i < nodes; ++i) {
        auto const& each = what_.nodes[i];
        if (sent_ && each.counts(now)) {
            ask(i, now);
        } else {
            tally_.on_failed(i, each.why_not());
        }
    }
    judge();
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
    of.vote = std::make_shared<ballot>(ballot{leading().nodes_clock().propose(last_token_, now)});
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
        keeper_->on_answer(which, std::move(given));
        return;
    }
    if (fsm_.done()) {
        return;
    }
    guarded([&] {
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
    });
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
            self->guarded([&] {
                if (raised) {
                    self->tally_.on_raised(i);
                } else {
                    self->tally_.on_failed(i, errc::unreachable);
                }
                self->judge();
            });
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
            self->guarded([&] {
                self->tally_.on_late();
                self->judge();
            });
        }
    });
}

// Between rounds

void quorum_acquire::retry() {
    give_back();
    bool hears = true;
    if (line_) {
        line_->set_busy(fsm_.busy());
        line_->listen(what_.nodes);
        hears = line_->hears();
    }
    wait_.on_lost(tally_, hears, lead_->random_part(), lease_clock::now());
    arm_retry();
}

void quorum_acquire::arm_retry() {
    if (!pause_) {
        pause_.emplace(lead_->strand());
    }
    sleep_until(*pause_, wait_.attempt_at());
    // One that stands in no line lives by its timer.
    auto keeps = place_ ? nullptr : shared_from_this();
    pause_->async_wait([weak = weak_from_this(), keeps = std::move(keeps)](error_code ec) {
        auto const self = weak.lock();
        if (self && !ec && !self->fsm_.done() && !self->fsm_.in_round()) {
            self->guarded([&] { self->begin_round(); });
        }
    });
}

void quorum_acquire::on_turn() {
    if (!fsm_.done() && !fsm_.in_round() && !pause_) {
        guarded([this] { begin_round(); });
    }
}

void quorum_acquire::on_news(std::size_t which) {
    guarded([&] {
        auto const before = wait_.attempt_at();
        wait_.on_news(which, lead_->random_part(), lease_clock::now());
        if (!fsm_.done() && !fsm_.in_round() && pause_ && wait_.attempt_at() != before) {
            arm_retry();
        }
    });
}

void quorum_acquire::on_ended(error_code cause) {
    perform(fsm_.on_ended(cause));
}

// The end

void quorum_acquire::arm_limit() {
    limit_.emplace(lead_->strand());
    sleep_until(*limit_, saturating_add(started_, what_.limit));
    limit_->async_wait([weak = weak_from_this()](error_code ec) {
        if (auto const self = weak.lock(); self && !ec) {
            self->on_time_up();
        }
    });
}

void quorum_acquire::on_time_up() {
    perform(fsm_.on_time_up(line_ && line_->busy()));
}

void quorum_acquire::on_cancel(asio::cancellation_type type) {
    perform(fsm_.on_cancel(request_of(type)));
}

void quorum_acquire::give_back() noexcept {
    ++round_;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        what_.nodes[i].cancel(parts_[i].asked, asio::cancellation_type::terminal);
        parts_[i] = {};
    }
}

quorum_lease quorum_acquire::make_lease() {
    std::vector<lease> held(parts_.size());
    std::vector<std::weak_ptr<acquire_op>> asked(parts_.size());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        held[i] = std::move(parts_[i].held);
        asked[i] = parts_[i].asked;
    }
    auto const group = std::make_shared<lease_group>(lead_, std::move(held), tally_.needed());
    auto const token = tally_.token();
    auto keeper = std::make_shared<quorum_keeper>(
        leading().keepers(),
        lead_,
        quorum_keeper::quorum{what_.nodes, what_.who, token, lease_clock::now()}
    );
    group->set_keeper(keeper);
    auto granted = lease_group::make_lease(group, token);
    keeper->start(group, std::move(asked));
    keeper_ = std::move(keeper);
    return granted;
}

void quorum_acquire::deliver() {
    quorum_lease granted;
    try {
        granted = make_lease();
    } catch (std::exception const&) {
        finish(asio::error::no_memory);
        return;
    }
    end();
    handler_.complete({}, std::move(granted));
}

void quorum_acquire::finish(error_code ec) {
    give_back();
    end();
    handler_.complete(ec, quorum_lease{});
}

void quorum_acquire::end() noexcept {
    holder_executor_ = {};
    limit_.reset();
    pause_.reset();
    try {
        leave_line();
    } catch (...) {
        // Out of memory: the next one in line tries when it hears something.
    }
}

}  // namespace holdfast::detail
