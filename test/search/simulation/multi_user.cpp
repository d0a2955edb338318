#include "simulation/multi_user.hpp"

#include "lease/lease_group.hpp"

#include <boost/asio/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

namespace holdfast::sim {

namespace {

std::string names_of(std::vector<std::string> const& locks) {
    return fmt::format("{}", fmt::join(locks, "+"));
}

}  // namespace

void multi_user::start(
    std::vector<std::string> const& locks,
    request const& what,
    multi_call& asked
) {
    std::vector<multi_lock::member> members;
    for (auto const& name : locks) {
        auto const limit = all_.judge.permits().limit_of(name);
        with_lock_of(node_.client(), name, 1, limit, [&](auto const& lock) {
            members.emplace_back(lock);
        });
    }
    multi_lock const all{members};
    begin(all, what, asked);
}

asio::awaitable<void> multi_user::use_several(
    std::vector<std::string> locks,
    request what,
    nanos work
) {
    auto const self = shared_from_this();
    auto const asked = std::make_shared<multi_call>(executor_);
    auto const started = all_.in.now();
    std::vector<oracle::waiter_ref> waits;
    for (auto const& name : locks) {
        // While it waits for one it is not owed the others.
        waits.push_back(all_.judge.on_waits(process_, name, false, false));
    }
    say("asks for " + names_of(locks));
    start(locks, what, *asked);
    if (what.cancelled) {
        asked->cancel_after(what.cancelled->after, what.cancelled->type);
    }
    auto wait = done(asked);
    co_await std::move(wait);
    auto& held = std::get<0>(*asked->results);
    for (auto const& one : waits) {
        all_.judge.on_waits_no_more(one, static_cast<bool>(held));
    }
    judge_answer(locks, what, *asked, started);
    if (held) {
        oracle::lease_kind const kind{
            what.options.owner.has_value(),
            what.options.lease.is_learned(),
        };
        auto use = hold(locks, held, kind, work);
        co_await std::move(use);
    }
}

void multi_user::judge_answer(
    std::vector<std::string> const& locks,
    request const& what,
    multi_call const& asked,
    nanos started
) {
    auto const ec = asked.error;
    auto const& held = std::get<0>(*asked.results);
    auto const names = names_of(locks);
    say(fmt::format("{}: {}", names, ec ? ec.message() : held ? "granted" : "busy"));
    bool const waits = what.how == request::kind::acquire;
    bool const limited = what.how == request::kind::limited;
    if (ec) {
        bool const up_in_time = all_.quiet && started > 1s;
        bool const passing = ec == errc::unreachable || ec == errc::server_refused;
        bool const unheard = passing && !waits && (limited || !up_in_time);
        bool const waits_for_itself = ec == errc::would_deadlock && what.options.owner &&
                                      std::any_of(locks.begin(), locks.end(), is_writer);
        if (held || !(unheard || waits_for_itself || expected(ec, asked.cancelled))) {
            violation(fmt::format("acquiring {} ended with: {}", names, ec.message()));
        }
        if (ec == asio::error::operation_aborted) {
            for (auto const& name : locks) {
                all_.judge.on_cancelled(process_, name);
            }
        }
        return;
    }
    if (!held) {
        bool const right = std::any_of(locks.begin(), locks.end(), [&](std::string const& name) {
            return all_.judge.busy_is_right(process_, name, started);
        });
        if (waits || !right) {
            violation(names + ": an empty lease, but nobody was told that one is busy");
        }
        return;
    }
    if (held.size() != locks.size()) {
        violation(names + ": not all have a lease");
    }
    auto const why = held.loss();
    bool const stale = why == loss_reason::expired || why == loss_reason::unreachable;
    if (stale && process_.free_since() + 1ms < all_.in.now() && !node_.closed()) {
        violation(names + ": the lease that was delivered is over");
    }
}

asio::awaitable<void> multi_user::hold(
    std::vector<std::string> const& locks,
    multi_lease& held,
    oracle::lease_kind kind,
    nanos work
) {
    auto const names = names_of(locks);
    bool const fair = std::any_of(locks.begin(), locks.end(), is_fair);
    if (fair || kind.owned || kind.learned) {
        all_.judge.reached(sometimes::taken_apart);
    }
    // They live as long as the whole does.
    auto const& leases = detail::lease_group::leases_of(held);
    std::deque<in_hand> members;
    for (std::size_t i = 0; i < locks.size(); ++i) {
        members.emplace_back(*this, locks[i], leases[i], kind);
    }
    auto const watching = std::make_shared<call<loss_reason>>(executor_);
    watching->initiating = true;
    held.wait_lost(watching->token());
    watching->initiating = false;
    auto pause = sleep(work);
    co_await std::move(pause);
    bool const lost = held.state() == lease_state::lost;
    if (lost) {
        all_.judge.on_lost(held.loss());
        // Everything that is ready runs before time goes on.
        auto moment = sleep(1us);
        co_await std::move(moment);
        bool const client_is_stuck = process_.any_lane_blocked() || process_.slept() != 0ns ||
                                     process_.free_since() + 1us >= all_.in.now();
        if (!watching->done && !client_is_stuck) {
            violation(names + ": a member is lost, and the watcher was not told");
        }
    } else if (watching->done) {
        violation(names + ": the watcher was told of a loss that is none");
    }
    for (std::size_t i = 0; i < locks.size(); ++i) {
        if (watching->done && !watching->error && leases[i].state() == lease_state::lost) {
            note_told(*watching, members[i].belief());
        }
    }
    for (auto& one : members) {
        one.part();
    }
    auto parting = release_all(names, held);
    co_await std::move(parting);
    auto end = done(watching);
    co_await std::move(end);
}

asio::awaitable<void> multi_user::release_all(std::string const& names, multi_lease& held) {
    if (all_.in.dice().chance(25)) {
        say("drops " + names);
        held = multi_lease{};
        co_return;
    }
    bool const valid = held.valid();
    auto const asked = std::make_shared<call<>>(executor_);
    asked->initiating = true;
    held.release(asked->token());
    asked->initiating = false;
    if (held.valid() || held) {
        violation(names + ": held after the release began");
    }
    auto wait = done(asked);
    co_await std::move(wait);
    auto const ec = asked->error;
    say(fmt::format("released {}: {}", names, ec ? ec.message() : "done"));
    if (!release_may_end_with(ec, false, valid)) {
        violation(fmt::format("the release of {} ended with: {}", names, ec.message()));
    }
}

}  // namespace holdfast::sim
