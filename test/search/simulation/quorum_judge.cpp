#include "simulation/quorum_judge.hpp"

#include "protocol/reply.hpp"
#include "support/history/standing.hpp"

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
// A renewal is repeated until it is answered.
constexpr nanos slowest_repetition = 1s;

// By its process' clock.
nanos latest_end(quorum_judge::belief const& one) {
    view_of const view{*one.of};
    return std::min(nanos{one.held->deadline().time_since_epoch()}, one.longest_until);
}

}  // namespace

quorum_judge::quorum_judge(world& in, server& of, oracle& judge)
    : in_{in},
      server_{of},
      judge_{judge} {}

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

quorum_judge::waiter_ref quorum_judge::on_waits(
    process const& of,
    std::string const& lock,
    config const& settings
) {
    // A server that was started does not vote at once, and a client does not ask at once.
    auto const delay = nanos{settings.restart_delay.value_or(settings.lease)};
    auto const limit = judge_.slowest_wake_up(lock) + delay + nanos{settings.lock_delay};
    waiters_.push_back({&of, lock, in_.now(), limit, next_serial_++});
    watch_waiter(waiters_.back().serial, in_.now());
    return std::prev(waiters_.end());
}

// At most of the servers.
bool quorum_judge::is_free(std::string const& lock) const {
    auto const& all = server_.machines();
    auto const free = std::count_if(all.begin(), all.end(), [&](auto const& one) {
        return one->data.pttl(lock) == -2;
    });
    return static_cast<std::size_t>(free) > all.size() / 2;
}

// A lock that is free, and wanted, is taken soon. It is looked at each second: attempts that fail
// take it at a few servers for a moment.
void quorum_judge::watch_waiter(std::uint64_t serial, nanos free_since) {
    in_.after(
        1s,
        [this, serial, free_since] {
            auto const at =
                std::find_if(waiters_.begin(), waiters_.end(), [serial](waiter const& one) {
                    return one.serial == serial;
                });
            if (at == waiters_.end()) {
                return;
            }
            auto const& of = *at->of;
            bool const hindered = judge_.disturbed() || of.paused() || of.any_lane_blocked();
            auto const since =
                hindered || !is_free(at->lock)
                    ? in_.now()
                    : std::max({free_since, judge_.last_disturbance(), of.free_since()});
            if (in_.now() - since >= at->limit) {
                in_.violation(fmt::format(
                    "{} has been free for {:.3f} s, and p{} waits for it",
                    at->lock,
                    std::chrono::duration<double>{in_.now() - since}.count(),
                    of.number()
                ));
                return;
            }
            watch_waiter(serial, since);
        },
        only_looks
    );
}

quorum_judge::belief_ref quorum_judge::on_delivered(belief made) {
    auto const added = beliefs_.insert(beliefs_.end(), std::move(made));
    auto& one = *added;
    judge_.reached(sometimes::granted);
    one.serial = next_serial_++;
    one.seen_at = in_.now();
    if (one.kind.max_hold > 0ns && !one.kind.owned) {
        one.longest_until = one.of->clock() + one.kind.max_hold;
    }
    judge_length(one);
    watch_deadline(added);
    if (valid(one)) {
        judge_others(added);
    }
    return added;
}

void quorum_judge::judge_others(belief_ref made) {
    auto const& one = *made;
    bool joined = false;
    history::standing<belief const*, std::pair<void const*, std::size_t>> holders;
    for (auto at = beliefs_.begin(); at != beliefs_.end(); ++at) {
        if (at->lock != one.lock || (at != made && !valid(*at))) {
            continue;
        }
        bool const owned = at->owner != 0;
        joined = joined || (owned && at != made && at->of == one.of && at->owner == one.owner);
        void const* const alone = &*at;
        void const* const whose = at->of;
        holders.add(
            {.who = &*at, .holder = {owned ? whose : alone, at->owner}},
            [&](belief const* other) {
                if (at == made) {
                    in_.violation(
                        fmt::format("two holders: {}, and {}", describe(*other), describe(one))
                    );
                }
            }
        );
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
        judge_.reached(sometimes::joined);
    }
    if (forgotten_) {
        judge_.reached(sometimes::granted_after_forgetting);
    }
}

// A majority's leases are as long as was asked for, or will be renewed in time. They begin with a
// request to each node, and the token may take another one.
void quorum_judge::judge_length(belief const& one) {
    auto const& kind = one.kind;
    if (kind.owned) {
        return;
    }
    view_of const view{*one.of};
    nanos const left = one.held->deadline().time_since_epoch() - one.of->clock();
    bool const is_short =
        !kind.is_renewed && left < kind.shortest_beginning() - kind.request_timeout;
    bool const free =
        one.of->free_since() <= one.asked_at && !one.of->paused() && !one.of->any_lane_blocked();
    if (left > kind.usable() ||
        (is_short && free && one.held->loss() != loss_reason::client_stopped)) {
        in_.violation(fmt::format(
            "a lease of {} ms{} begins with too much or too little: {}",
            kind.lease / 1ms,
            kind.is_renewed ? "" : " that is not renewed",
            describe(one)
        ));
    }
}

void quorum_judge::watch_deadline(belief_ref of) {
    view_of const view{*of->of};
    in_.at(
        of->of->true_time_of(latest_end(*of)) + 1us,
        [this, serial = of->serial] { check_deadline(serial); },
        only_looks
    );
}

void quorum_judge::check_deadline(std::uint64_t serial) {
    auto const at = std::find_if(beliefs_.begin(), beliefs_.end(), [serial](belief const& one) {
        return one.serial == serial;
    });
    if (at == beliefs_.end()) {
        return;
    }
    if (at->of->clock() < latest_end(*at)) {
        at->seen_at = valid(*at) ? in_.now() : at->seen_at;
        watch_deadline(at);
        return;
    }
    if (valid(*at)) {
        in_.violation("a lease is valid after its deadline, or max_hold: " + describe(*at));
    }
    look_at_end(*at);
}

void quorum_judge::look_at_end(belief& one) {
    view_of const view{*one.of};
    if (one.held->state() == lease_state::lost && !std::exchange(one.was_lost, true)) {
        judge_end(one);
    }
}

// A lease that is renewed does not end by itself. What a fault has taken on a node shows with the
// next renewal there: after half of the lease at most, and some of them are repeated.
void quorum_judge::judge_end(belief const& one) {
    auto const why = one.held->loss();
    if (!one.kind.endless || why == loss_reason::none || why == loss_reason::client_stopped) {
        return;
    }
    auto lost_at = one.seen_at;
    if (why == loss_reason::expired || why == loss_reason::unreachable) {
        auto const part = static_cast<double>(one.kind.lease.count()) * one.kind.margin_part;
        nanos const margin{static_cast<nanos::rep>(part)};
        auto const due = one.of->true_time_of(one.held->deadline().time_since_epoch() - margin);
        lost_at = std::clamp(due, lost_at, in_.now());
    }
    if (judge_
            .healthy_for(*one.of, in_.now() - lost_at + one.kind.lease / 2 + slowest_repetition)) {
        in_.violation(fmt::format(
            "a lease was lost although nothing was wrong ({}): {}",
            to_string(why),
            describe(one)
        ));
    }
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
    look_at_end(*which);
    beliefs_.erase(which);
}

void quorum_judge::on_killed(process const& of) {
    std::erase_if(beliefs_, [&](belief const& one) { return one.of == &of; });
    std::erase_if(waiters_, [&](waiter const& one) { return one.of == &of; });
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
        judge_.reached(sometimes::executed_late);
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
            judge_.reached(sometimes::split_vote);
        }
    } else if (what.does == "release" && granted) {
        by.erase(&at);
    } else if (what.does == "raise_token" && granted) {
        judge_.reached(sometimes::token_written_back);
    }
}

}  // namespace holdfast::sim
