#include "simulation/quorum_judge.hpp"

#include "protocol/reply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::sim {

namespace {

// Nobody needs so many in a schedule.
constexpr std::uint64_t most_scripts = 60'000;
// Nor so many in a moment, of several users of three processes at five servers.
constexpr nanos instant = 1ms;
constexpr std::uint64_t most_in_a_moment = 500;

}  // namespace

quorum_judge::quorum_judge(world& in, server& of, std::function<void(sometimes)> reached)
    : in_{in},
      server_{of},
      reached_{std::move(reached)} {}

void quorum_judge::begin() {
    server_.before_script = {};
    server_.on_answer = {};
    server_.on_script = [this](script_event const& what) { on_script(what); };
}

bool quorum_judge::valid(belief const& one) {
    view_of const view{*one.of};
    return one.held->valid();
}

std::string quorum_judge::describe(belief const& one) {
    view_of const view{*one.of};
    auto const left = std::chrono::duration<double, std::milli>{one.held->remaining()};
    return fmt::format(
        "p{}'s of {} with token {}, at {} servers, valid for {:.3f} ms",
        one.of->number(),
        one.lock,
        one.held->token().value,
        one.held->nodes(),
        left.count()
    );
}

quorum_judge::belief_ref quorum_judge::on_delivered(belief made) {
    auto const added = beliefs_.insert(beliefs_.end(), std::move(made));
    auto const& one = *added;
    reached_(sometimes::granted);
    if (!valid(one)) {
        return added;
    }
    bool joined = false;
    for (auto at = beliefs_.begin(); at != added; ++at) {
        if (at->lock != one.lock || !valid(*at)) {
            continue;
        }
        if (one.owner != 0 && at->of == one.of && at->owner == one.owner) {
            joined = true;
            continue;
        }
        in_.violation(fmt::format("two holders: {}, and {}", describe(*at), describe(one)));
    }
    auto const token = one.held->token().value;
    auto& last = last_[one.lock];
    // An owner may join what its former lease gives back. Of two leases that it asked for at a
    // time, the first one may be delivered last, to a thread that was blocked.
    bool const same = one.owner != 0 && last.to == one.of && last.owner == one.owner;
    bool const at_a_time = same && one.asked_at < last.at;
    auto const before = same ? last.before : last.token;
    if (same && !at_a_time ? token < last.token : token <= before) {
        in_.violation(fmt::format("a lease: {}, after token {}", describe(one), last.token));
    }
    last = {std::max(last.token, token), one.of, one.owner, in_.now(), before};
    if (joined) {
        reached_(sometimes::joined);
    }
    if (forgotten_) {
        reached_(sometimes::granted_after_forgetting);
    }
    return added;
}

bool quorum_judge::withheld(nanos when, config const& settings) const {
    nanos const delay = settings.restart_delay.value_or(settings.lease);
    std::size_t young = 0;
    std::size_t all = 0;
    for (auto const& one : server_.machines()) {
        // A client knows how old a server is in whole seconds by its clock, which may have gone
        // back, and counts from when it connected if it knew the one before.
        auto const back = std::max(one->offset_then - one->clock_offset, nanos{0});
        auto const ends = one->began_at + delay + delay / 100 + 1s + back;
        young += when < ends ? 1U : 0U;
        ++all;
    }
    return all - young < all / 2 + 1;
}

void quorum_judge::on_parted(belief_ref which) {
    beliefs_.erase(which);
}

void quorum_judge::on_killed(process const& of) {
    std::erase_if(beliefs_, [&](belief const& one) { return one.of == &of; });
}

void quorum_judge::on_script(script_event const& what) {
    in_.mark(what.script);
    machine const& at = what.stray ? *what.stray : server_.primary();
    if (in_.traced()) {
        in_.trace(
            nullptr,
            fmt::format(
                "{} runs {} of {} by {} for p{}: {}",
                at.host,
                what.script,
                what.lock,
                what.holder,
                what.from,
                what.reply->describe()
            )
        );
    }
    if (in_.now() - moment_began_ > instant) {
        moment_began_ = in_.now();
        in_moment_ = 0;
    }
    if (++in_moment_ > most_in_a_moment || ++scripts_ > most_scripts) {
        in_.violation("the servers are asked more than they should ever be: somebody polls");
    }
    if (what.late) {
        reached_(sometimes::executed_late);
    }
    if (what.reply->is_error()) {
        return;
    }
    detail::script_reply const said{what.reply->text};
    bool const granted = said.integer(0, -1) == 1;
    auto& by = granted_[std::string{what.lock}];
    if (what.does == "acquire" && granted) {
        by[&at] = what.from;
    } else if (what.does == "acquire") {
        bool const split = std::any_of(by.begin(), by.end(), [&](auto const& one) {
            return one.second != by.begin()->second;
        });
        if (split) {
            reached_(sometimes::split_vote);
        }
    } else if (what.does == "release" && granted) {
        by.erase(&at);
    } else if (what.does == "raise_token" && granted) {
        reached_(sometimes::token_written_back);
    }
}

}  // namespace holdfast::sim
