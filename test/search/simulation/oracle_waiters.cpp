// Those who wait: in which order they are granted a lock, and how soon one that is free.

#include "simulation/oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace holdfast::sim {

oracle::waiter_ref oracle::on_waits(
    process& of,
    std::string const& lock,
    bool patient,
    bool in_order,
    bool of_several
) {
    waiters_.push_back({&of, lock, in_.now(), patient, in_order, of_several});
    if (is_free(lock_of(lock))) {
        watch_waiters(lock_of(lock), in_.now() + slowest_wake_up(lock));
    }
    return std::prev(waiters_.end());
}

void oracle::on_waits_no_more(waiter_ref of, bool granted) {
    if (granted && of->in_order) {
        judge_order(*of);
    }
    waiters_.erase(of);
}

void oracle::on_told_busy(script_event const& what, detail::script_reply const& said) {
    auto const remaining = std::chrono::milliseconds{said.integer(1)};
    auto const until = in_.now() + server_.true_duration_of(remaining);
    told_[{what.from, std::string{what.lock}}] = {in_.now(), until, what.queues};
}

bool oracle::is_waited_for(std::string_view lock) const {
    return std::any_of(waiters_.begin(), waiters_.end(), [&](waiter const& one) {
        return lock_of(one.lock) == lock;
    });
}

// Those of one client come in any order to a thread that stood still.
void oracle::judge_order(waiter const& granted) {
    for (auto const& one : waiters_) {
        bool const same = one.of == granted.of && one.lock == granted.lock;
        if (same && one.patient && one.in_order && one.since + 1ms < granted.since &&
            one.of->free_since() < one.since && !one.of->paused() && !one.of->any_lane_blocked()) {
            in_.violation(fmt::format(
                "{} goes to a waiter of p{} before another one that came {:.3f} ms sooner",
                one.lock,
                one.of->number(),
                static_cast<double>((granted.since - one.since).count()) / 1e6
            ));
        }
    }
}

void oracle::on_cancelled(process const& of, std::string const& lock) {
    bool const others = std::any_of(waiters_.begin(), waiters_.end(), [&](waiter const& one) {
        return one.of == &of && one.lock == lock;
    });
    if (others && server_.data().pttl(lock_of(lock)) == -2 && !is_pool(lock)) {
        passed_on_.insert({of.number(), lock});
    }
}

bool oracle::is_free(std::string const& lock) {
    return is_pool(lock) ? permits_.all_free(lock) : server_.data().pttl(lock) == -2;
}

void oracle::on_maybe_free(std::string const& lock) {
    auto& known = truths_[lock];
    if (is_free(lock)) {
        if (known.free_since < 0ns) {
            known.free_since = in_.now();
        }
        watch_waiters(lock, in_.now() + slowest_wake_up(lock));
    } else if (is_pool(lock)) {
        known.free_since = -1ns;
    }
}

// A lock that is free, and wanted, is taken soon.
void oracle::watch_waiters(std::string const& lock, nanos when) {
    if (!is_waited_for(lock)) {
        return;
    }
    in_.at(
        when,
        [this, lock] {
            if (!is_free(lock)) {
                return;
            }
            auto& known = truths_[lock];
            if (known.freed_in_silence) {
                return;
            }
            if (known.free_since < 0ns) {
                // Nothing tells when permits became free without a script of ours.
                known.free_since = in_.now() - (is_pool(lock) ? 0ns : slowest_wake_up(lock));
            }
            if (disturbed()) {
                watch_waiters(lock, in_.now() + 1s);
                return;
            }
            auto soonest = nanos::max();
            for (auto const& one : waiters_) {
                if (lock_of(one.lock) != lock || !one.patient || one.of->paused() ||
                    believes_in_vain(*one.of, lock)) {
                    continue;
                }
                auto since =
                    std::max({known.free_since, last_disturbance_, one.since, one.of->free_since()}
                    );
                // Who looks when the lease ends that it knows of: it does not queue, and is not
                // told that the lock goes from hand to hand; or nothing told it of a primary that
                // lost its place and got it back, or that its place in the queue is lost.
                auto const told = told_.find({one.of->number(), lock});
                if (told != told_.end() &&
                    ((!told->second.queues && told->second.at < known.passed_on_at) ||
                     told->second.at < unseen_at_ || told->second.at < known.forgotten_at)) {
                    since = std::max(since, told->second.until);
                }
                if (in_.now() - since >= slowest_wake_up(lock)) {
                    in_.violation(fmt::format(
                        "{} has been free for {:.3f} s, and p{} waits for it",
                        lock,
                        std::chrono::duration<double>{in_.now() - known.free_since}.count(),
                        one.of->number()
                    ));
                    return;
                }
                soonest = std::min(soonest, since + slowest_wake_up(lock));
            }
            if (soonest != nanos::max()) {
                watch_waiters(lock, soonest);
            }
        },
        only_looks
    );
}

}  // namespace holdfast::sim
