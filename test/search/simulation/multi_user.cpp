#include "simulation/multi_user.hpp"

#include "lease/lease_group.hpp"

#include <boost/asio/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

namespace holdfast::sim {

namespace {

template <class Members>
std::string names_of(Members const& members) {
    std::string names;
    for (auto const& one : members) {
        names.append(names.empty() ? "" : "+").append(one.lock);
    }
    return names;
}

template <class Members, class Test>
bool any_of(Members const& members, Test test) {
    return std::any_of(members.begin(), members.end(), [&](auto const& one) {
        return test(one.lock);
    });
}

}  // namespace

void multi_user::start(std::vector<member> const& members, request const& what, multi_call& asked) {
    std::vector<multi_lock::member> named;
    for (auto const& one : members) {
        auto const limit = all_.judge.permits().limit_of(one.lock);
        with_lock_of(node_.client(), one.lock, one.permits, limit, [&](auto const& lock) {
            named.emplace_back(lock);
        });
    }
    multi_lock const all{named};
    begin(all, what, asked);
}

asio::awaitable<void> multi_user::use_several(
    std::vector<member> members,
    request what,
    nanos work
) {
    auto const self = shared_from_this();
    auto const asked = std::make_shared<multi_call>(executor_);
    auto const started = all_.in.now();
    std::vector<oracle::waiter_ref> waits;
    for (auto const& one : members) {
        // While it waits for one it is not owed the others.
        waits.push_back(all_.judge.on_waits(process_, one.lock, false, false, true));
    }
    say("asks for " + names_of(members));
    start(members, what, *asked);
    if (what.cancelled) {
        asked->cancel_after(what.cancelled->after, what.cancelled->type);
    }
    auto wait = done(asked);
    co_await std::move(wait);
    auto& held = std::get<0>(*asked->results);
    for (auto const& one : waits) {
        all_.judge.on_waits_no_more(one, static_cast<bool>(held));
    }
    judge_answer(members, what, *asked, started);
    if (held) {
        auto use = hold(members, held, what, started, work);
        co_await std::move(use);
    }
}

asio::awaitable<void> multi_user::ask_in_vain(
    std::vector<member> members,
    request what,
    error_code why
) {
    auto const judge = [&](error_code ec, bool granted) {
        if (granted || (ec != why && ec != errc::client_stopped)) {
            violation(fmt::format(
                "acquiring {} should have ended with: {}, and did with: {}",
                names_of(members),
                why.message(),
                granted ? "a lease" : ec.message()
            ));
        }
    };
    say(fmt::format("asks for {} in vain: {}", names_of(members), why.message()));
    if (members.size() > 1) {
        auto const asked = std::make_shared<multi_call>(executor_);
        start(members, what, *asked);
        auto wait = done(asked);
        co_await std::move(wait);
        judge(asked->error, static_cast<bool>(std::get<0>(*asked->results)));
        co_return;
    }
    auto const asked = std::make_shared<call<lease>>(executor_);
    auto const& only = members.front();
    with_lock_of(node_.client(), only.lock, only.permits, 0, [&](auto const& lock) {
        begin(lock, what, *asked);
    });
    auto wait = done(asked);
    co_await std::move(wait);
    judge(asked->error, static_cast<bool>(std::get<0>(*asked->results)));
}

void multi_user::judge_answer(
    std::vector<member> const& members,
    request const& what,
    multi_call const& asked,
    nanos started
) {
    auto const ec = asked.error;
    auto const& held = std::get<0>(*asked.results);
    auto const names = names_of(members);
    say(fmt::format("{}: {}", names, ec ? ec.message() : held ? "granted" : "busy"));
    judge_cancellation(asked, names);
    bool const waits = what.how == request::kind::acquire;
    if (ec) {
        bool const unheard = may_pass(ec, started, what) && !waits;
        bool const waits_for_itself =
            ec == errc::would_deadlock && what.options.owner && any_of(members, is_writer);
        if (held || !(unheard || waits_for_itself || expected(ec, asked.cancelled))) {
            violation(failure_of(names, ec, started));
        }
        if (ec == asio::error::operation_aborted) {
            for (auto const& one : members) {
                all_.judge.on_cancelled(process_, one.lock);
            }
        }
        return;
    }
    if (!held) {
        bool const right = any_of(members, [&](std::string const& name) {
            return all_.judge.busy_is_right(process_, name, started);
        });
        if (waits) {
            violation(names + ": neither a lease nor an error for one who waits");
        } else if (!right) {
            violation(names + ": busy, but no attempt was answered so since it began");
        }
        return;
    }
    if (held.size() != members.size()) {
        violation(names + ": not all have a lease");
    }
    judge_fresh(held, names);
}

asio::awaitable<void> multi_user::hold(
    std::vector<member> const& members,
    multi_lease& held,
    request const& what,
    nanos started,
    nanos work
) {
    auto const names = names_of(members);
    if (any_of(members, is_fair) || what.options.owner || what.options.lease.is_learned()) {
        all_.judge.reached(sometimes::taken_apart);
    }
    // They live as long as the whole does.
    auto const& leases = detail::lease_group::leases_of(held);
    std::deque<in_hand> beliefs;
    for (std::size_t i = 0; i < members.size(); ++i) {
        auto kind = kind_of(what, started);
        kind.permits = members[i].permits;
        // A member of which so little has passed is not renewed while others are.
        kind.request_timeout += 100ms;
        beliefs.emplace_back(*this, members[i].lock, leases[i], kind);
    }
    auto const watching = std::make_shared<call<loss_reason>>(executor_);
    bool const watches = dice().chance(30);
    if (watches) {
        watching->initiating = true;
        held.wait_lost(watching->token());
        watching->initiating = false;
    }
    auto pause = sleep(work);
    co_await std::move(pause);
    bool const lost = held.state() == lease_state::lost;
    if (lost) {
        all_.judge.on_lost(held.loss());
        // Everything that is ready runs before time goes on.
        auto moment = sleep(1us);
        co_await std::move(moment);
        bool const client_is_stuck =
            process_.any_lane_blocked() || process_.punctual_since() + 1us >= all_.in.now();
        if (watches && !watching->done && !client_is_stuck) {
            violation(names + ": a member is lost, and the watcher was not told");
        }
        if (dice().chance(30)) {
            auto longer = sleep(dice().any_scale(1ms, nanos{all_.lease} + 3s));
            co_await std::move(longer);
        }
    } else if (watching->done) {
        violation(names + ": the watcher was told of a loss that is none");
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
        if (watching->done && !watching->error && leases[i].state() == lease_state::lost) {
            note_told(*watching, beliefs[i].belief());
        }
    }
    for (auto& one : beliefs) {
        one.part();
    }
    auto parting = part_with(held, names);
    co_await std::move(parting);
    if (watches) {
        auto end = done(watching);
        co_await std::move(end);
    }
}

}  // namespace holdfast::sim
