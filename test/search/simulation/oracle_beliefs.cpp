// What holders believe, against what is true.

#include "simulation/oracle.hpp"
#include "support/history/standing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace holdfast::sim {

namespace {

bool is_valid(oracle::belief const& one) {
    view_of const view{*one.of};
    return one.held->valid();
}

// By its process' clock.
nanos latest_end(oracle::belief const& one) {
    return std::min(nanos{one.held->deadline().time_since_epoch()}, one.longest_until);
}

}  // namespace

void oracle::watch_deadline(belief_ref of) {
    auto const serial = next_serial_++;
    by_serial_.emplace(serial, of);
    view_of const view{*of->of};
    auto const when = of->of->true_time_of(latest_end(*of)) + 1us;
    in_.at(when, [this, serial] { check_deadline(serial); }, only_looks);
}

void oracle::check_deadline(std::uint64_t serial) {
    auto const at = by_serial_.find(serial);
    if (at == by_serial_.end()) {
        return;
    }
    auto const one = at->second;
    by_serial_.erase(at);
    view_of const view{*one->of};
    if (lease_clock::now().time_since_epoch() < latest_end(*one)) {
        watch_deadline(one);
        return;
    }
    if (one->held->valid()) {
        in_.violation("a lease is valid after its deadline, or max_hold: " + describe(*one));
    }
    if (!std::exchange(one->was_lost, true)) {
        judge_end(*one);
    }
    // One whose `max_hold` is over is lost before its deadline.
    auto const deadline = one->of->true_time_of(one->held->deadline().time_since_epoch());
    watch_given_back(*one, std::max(in_.now(), deadline));
}

// A message that was late hides a step of the server's clock, and the receiver believes to have the
// lock for as much longer as the message was late: it cannot know.
bool oracle::misled(belief const& one, nanos by) const {
    auto const& known = truths_.find(lock_of(one.lock))->second;
    auto const granted = known.granted_at.find(one.holder);
    return granted != known.granted_at.end() && one.delivered_at - granted->second >= by &&
           last_step_ > one.delivered_at - 6s;
}

// Nobody believes to hold what he does not hold, nor for longer than the server keeps it for him.
void oracle::check_truth(belief const& one) {
    auto const lock = lock_of(one.lock);
    if (!holds_on_server(lock, one.holder)) {
        in_.violation(fmt::format(
            "{} is not held on the server by the lease that is valid: {}",
            one.lock,
            describe(one)
        ));
        return;
    }
    auto kept = server_.data().pttl(lock);
    if (is_pool(lock)) {
        auto const till = permits_.kept_until(lock, one.holder, one.permits);
        kept = till.value_or(0) - server_.wall_clock() / 1'000;
    } else if (is_reader(one.lock)) {
        kept = std::min(kept, reading_.left_of(lock, one.holder));
    }
    std::chrono::milliseconds const left{kept + 1};
    auto const end = in_.now() + server_.true_duration_of(left);
    auto const too_long = one.of->true_time_of(one.held->deadline().time_since_epoch()) - end;
    if (too_long > 0ns && !misled(one, too_long)) {
        in_.violation(fmt::format(
            "the server keeps {} for {} ms, less than is believed: {}",
            one.lock,
            left.count(),
            describe(one)
        ));
    }
}

void oracle::check(std::string const& side) {
    auto const lock = lock_of(side);
    history::standing<belief const*> valid;
    bool const pool = is_pool(lock);
    for (auto& one : beliefs_) {
        if (lock_of(one.lock) != lock) {
            continue;
        }
        view_of const view{*one.of};
        auto const state = one.held->state();
        if (state == lease_state::in_doubt) {
            if (!std::exchange(one.was_in_doubt, true)) {
                reached(sometimes::in_doubt);
            }
        } else if (state == lease_state::held && std::exchange(one.was_in_doubt, false)) {
            reached(sometimes::recovered);
        }
        if (state != lease_state::lost) {
            one.seen_at = in_.now();
        } else if (!std::exchange(one.was_lost, true)) {
            judge_end(one);
        }
        if (!is_valid(one)) {
            continue;
        }
        if (one.was_lost) {
            in_.violation("a lease is valid again after it was lost: " + describe(one));
        }
        bool const reads = is_reader(one.lock);
        valid.add(
            {.who = &one,
             .how = pool    ? history::mode::permits
                    : reads ? history::mode::reads
                            : history::mode::alone,
             .holder = one.holder,
             .token = static_cast<std::int64_t>(one.token),
             .writes_as = reads ? reading_.writer_of(lock, one.holder) : std::string_view{},
             .permits = one.permits},
            [&](belief const* other) {
                if (excused(*other) || excused(one)) {
                    reached(sometimes::overlap_explained);
                    judge_overlap(*other, one);
                } else {
                    in_.violation(fmt::format(
                        "{} has two valid leases: {} and {}",
                        lock,
                        describe(*other),
                        describe(one)
                    ));
                }
            }
        );
        if (!excused(one)) {
            check_truth(one);
        }
    }
    if (pool) {
        auto const all = valid.taken([this](belief const* one) { return !excused(*one); });
        if (all.holders > 1) {
            reached(sometimes::permits_beside);
        }
        check_sum(lock, all.permits);
    }
}

// Of all permits that somebody believes to have, there are no more than there may be.
void oracle::check_sum(std::string const& pool, std::int64_t taken) {
    auto const sum = taken + permits_.taken_by_others(pool);
    if (sum > permits_.limit_of(pool)) {
        in_.violation(
            fmt::format("{} of the {} permits of {} are held", sum, permits_.limit_of(pool), pool)
        );
    }
}

}  // namespace holdfast::sim
