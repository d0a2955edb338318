// How long leases last, why they end, and that nobody waits for one that is over.

#include "simulation/oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace holdfast::sim {

namespace {

// A renewal is due long before the lease ends, and is repeated until it is answered.
constexpr nanos slowest_renewal = 1s;
// What a client takes for granted a moment ago, and the error of a clock.
constexpr nanos slowest_start = 25ms;
// A release is sent, answered, and where places are kept looked after.
constexpr nanos slowest_release = 2s;

double ms(nanos time) {
    return static_cast<double>(time.count()) / 1e6;
}

}  // namespace

bool oracle::healthy_for(process const& of, nanos how_long) const noexcept {
    auto const since = std::max(
        slowest_recovery_ > 0ns ? std::max(last_disturbance_, of.given_up_at()) + slowest_recovery_
                                : 0ns,
        of.free_since()
    );
    return !disturbed() && !of.paused() && !of.any_lane_blocked() && in_.now() - since >= how_long;
}

nanos oracle::lease_kind::usable() const noexcept {
    return lease - nanos{static_cast<nanos::rep>(static_cast<double>(lease.count()) * drift)};
}

// The client renews a lease that lacks more than a round trip. The answer may take as long as it is
// waited for.
nanos oracle::lease_kind::shortest_beginning() const noexcept {
    return usable() - request_timeout - slowest_start;
}

// A lease is as long as was asked for, or will be renewed in time.
void oracle::judge_length(belief const& one, lease_kind const& kind) {
    if (kind.owned || kind.learned || excused(one)) {
        return;
    }
    view_of const view{*one.of};
    nanos const left = one.held->deadline().time_since_epoch() - one.of->clock();
    if (left > kind.usable()) {
        in_.violation(fmt::format(
            "{}: a lease of {:.3f} ms begins with {:.3f} ms",
            one.lock,
            ms(kind.lease),
            ms(left)
        ));
    }
    bool const is_short = !kind.is_renewed && left < kind.shortest_beginning();
    if (is_short && one.held->loss() != loss_reason::client_stopped &&
        one.of->free_since() <= kind.asked_at && !one.of->paused()) {
        in_.violation(fmt::format(
            "{}: a lease of {:.3f} ms that is not renewed begins with {:.3f} ms",
            one.lock,
            ms(kind.lease),
            ms(left)
        ));
    }
}

// A lease that is renewed does not end by itself.
void oracle::judge_end(belief const& one) {
    auto const why = one.held->loss();
    bool const explained = why == loss_reason::none || why == loss_reason::client_stopped ||
                           why == loss_reason::failed_over;
    if (!one.endless || explained || excused(one)) {
        return;
    }
    auto lost_at = one.seen_at;
    if (why == loss_reason::expired || why == loss_reason::unreachable) {
        // How long it was is not known of all; the longest one has the longest margin. It was not
        // lost before it was last seen to be held.
        auto const length = one.learned ? std::max(one.lease, lease_) : one.lease;
        auto const part = static_cast<double>(length.count()) * one.margin_part;
        nanos const margin{static_cast<nanos::rep>(part)};
        auto const given_up = one.held->deadline().time_since_epoch() - margin;
        lost_at = std::clamp(one.of->true_time_of(given_up), one.seen_at, in_.now());
    }
    // The renewal was sent when it was due, and neither its answer nor that to one of its
    // repetitions came in time. What was answered in time since then was not a renewal, or the last
    // repetition was under way by then.
    auto const due = lost_at - one.time_to_renew;
    auto const about = one.lease / 20;
    // With replicas, a renewal waits for the round before it, too. When one of unknown length was
    // due is not known.
    auto const from = one.learned || replicated_ ? 0ns : due - about;
    auto const to = one.learned ? in_.now() : due + about;
    // With replicas, renewals have a connection of their own: what others say tells nothing.
    auto const silent_at = replicated_ ? 0ns : lost_at - one.request_timeout;
    if (one.of->had_no_answer(from, to, silent_at)) {
        return;
    }
    if (healthy_for(*one.of, in_.now() - lost_at + slowest_renewal)) {
        in_.violation(fmt::format(
            "a lease was lost although nothing was wrong ({}): {}",
            to_string(why),
            describe(one)
        ));
    }
}

// Whoever looks first sees it.
void oracle::look_at_end(belief& one) {
    view_of const view{*one.of};
    if (one.held->state() == lease_state::lost && !std::exchange(one.was_lost, true)) {
        judge_end(one);
    }
}

// With its expiry.
bool oracle::keeps_on_server(std::string const& side, std::string const& holder) {
    auto const lock = lock_of(side);
    if (!holds_on_server(lock, holder)) {
        return false;
    }
    if (is_pool(lock)) {
        return permits_.kept_until(lock, holder, 1).value_or(0) > server_.wall_clock() / 1'000;
    }
    return !is_reader(side) || reading_.left_of(lock, holder) > 0;
}

void oracle::watch_given_back(belief const& one, nanos ends) {
    truths_[lock_of(one.lock)].used_until[one.holder] = ends;
    in_.at(
        ends + slowest_release,
        [this, number = one.of->number(), side = one.lock, holder = one.holder] {
            check_given_back(number, side, holder);
        },
        only_looks
    );
}

bool oracle::takes_beside_others(process const& who, std::string_view lock) const {
    return std::any_of(waiters_.begin(), waiters_.end(), [&](waiter const& one) {
        return one.of == &who && one.of_several && lock_of(one.lock) == lock;
    });
}

// Its client gives back, or passes on, what no lease needs any more.
void oracle::check_given_back(
    std::uint32_t number,
    std::string const& side,
    std::string const& holder
) {
    auto const of = processes_.find(number);
    if (of == processes_.end() || !of->second || excused_.contains(holder) ||
        lost_.contains(holder) || !keeps_on_server(side, holder)) {
        return;
    }
    auto& known = truths_[lock_of(side)];
    // A request that the server runs after the release blocks the lock for as long as it asked for.
    auto const released = known.released_at.find(holder);
    auto const denied = denied_at_.find(number);
    bool const may_be_denied =
        denied != denied_at_.end() && known.granted_at[holder] <= denied->second;
    if (known.release_denied.contains(holder) || may_be_denied) {
        return;
    }
    if (known.granted_late.contains(holder) && released != known.released_at.end() &&
        released->second <= known.granted_at[holder]) {
        return;
    }
    // A new primary may remember more of it than it says to its client.
    if (failed_over_at_ && known.granted_at[holder] <= *failed_over_at_) {
        return;
    }
    auto const since = known.used_until[holder];
    bool const used = in_.now() - since < slowest_release ||
                      std::any_of(
                          beliefs_.begin(),
                          beliefs_.end(),
                          [&](belief const& one) {
                              view_of const view{*one.of};
                              return one.holder == holder &&
                                     one.held->deadline().time_since_epoch() > one.of->clock();
                          }
                      );
    if (used) {
        return;  // its end will be watched, too
    }
    bool const takes_several = takes_beside_others(*of->second, lock_of(side));
    if (takes_several) {
        // It keeps what it has of them while it waits for the rest.
        known.used_until[holder] = in_.now();
    }
    if (takes_several || !healthy_for(*of->second, slowest_release)) {
        in_.after(
            1s,
            [this, number, side, holder] { check_given_back(number, side, holder); },
            only_looks
        );
        return;
    }
    in_.violation(fmt::format(
        "{} is kept on the server for p{}, whose last lease was over {:.3f} s ago",
        side,
        number,
        std::chrono::duration<double>{in_.now() - since}.count()
    ));
}

}  // namespace holdfast::sim
