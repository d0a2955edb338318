// What a failover takes away, and what may come of it.

#include "protocol/lock.hpp"
#include "protocol/semaphore.hpp"
#include "simulation/oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace holdfast::sim {

namespace {

// A holder that runs has found the new primary by then, and has asked it.
constexpr nanos slowest_news = 12s;
// A node of a cluster that was asked which slots are where has answered.
constexpr nanos slowest_map = 1s;

std::string without_mode(std::string const& field) {
    return field.substr(0, field.rfind(":write"));
}

}  // namespace

std::vector<std::string> oracle::holders_of(std::string const& lock) {
    if (is_pool(lock)) {
        auto const& holders = permits_.holders(lock);
        return {holders.begin(), holders.end()};
    }
    std::vector<std::string> holders;
    for (auto const& [field, unused] : server_.data().hgetall(lock)) {
        if (field != "mode") {
            holders.push_back(without_mode(field));
        }
    }
    return holders;
}

// In true time.
std::optional<nanos> oracle::kept_until(std::string const& lock, std::string const& holder) {
    if (!holds_on_server(lock, holder)) {
        return std::nullopt;
    }
    auto left = server_.data().pttl(lock);
    if (is_pool(lock)) {
        left = permits_.kept_until(lock, holder, 1).value_or(0) - server_.wall_clock() / 1'000;
    } else if (is_read_write(lock)) {
        auto const fields = server_.data().hgetall(lock);
        bool const reads = std::any_of(fields.begin(), fields.end(), [&](auto const& field) {
            return field.first == holder;
        });
        left = reads ? std::min(left, reading_.left_of(lock, holder)) : left;
    }
    return in_.now() +
           server_.true_duration_of(std::chrono::milliseconds{std::max<std::int64_t>(left, 0) + 1});
}

void oracle::on_failover(std::function<void()> const& promote) {
    struct had {
        std::string lock;
        std::string holder;
        nanos until;
    };
    std::vector<had> before;
    for (auto const& [lock, unused] : truths_) {
        for (auto const& holder : holders_of(lock)) {
            if (auto const until = kept_until(lock, holder)) {
                before.push_back({lock, holder, *until});
            }
        }
    }
    was_primary_.insert(server_.primary().data.run_id());
    promote();
    auto const before_that = std::exchange(failed_over_at_, in_.now());
    back_at_once_ = before_that && in_.now() - *before_that < 1'100ms;
    known_again_ = was_primary_.contains(server_.primary().data.run_id());
    if (known_again_ && before_that && in_.now() - *before_that < 5s) {
        unseen_at_ = in_.now();
    }
    reached(sometimes::failed_over);
    queue_.on_failover();
    for (auto const& one : beliefs_) {
        view_of const view{*one.of};
        if (replicated_ && one.held->valid() && !excused(one)) {
            check_truth(one);
        }
    }
    for (auto const& one : before) {
        auto const now = kept_until(one.lock, one.holder);
        if (!now) {
            reached(sometimes::writes_lost);
            on_lost_writes(one.holder, one.until, true);
        } else if (*now < one.until) {
            reached(sometimes::time_lost);
            on_lost_writes(one.holder, one.until, false);
        }
    }
    for (auto& [holder, lost] : lost_) {
        lost.unseen = lost.unseen || known_again_;
    }
    for (auto& [lock, known] : truths_) {
        auto const holders = holders_of(lock);
        for (auto const& holder : holders) {
            bool const new_here = std::none_of(before.begin(), before.end(), [&](had const& one) {
                return one.lock == lock && one.holder == holder;
            });
            if (new_here && holds_on_server(lock, holder)) {
                reached(sometimes::come_back);
            }
        }
        if (!is_pool(lock)) {
            auto const fields = server_.data().hgetall(lock);
            known.holder_now = fields.empty() ? std::string{} : fields.front().first;
            known.free_since = -1ns;
            known.passed_on_at = -1ns;
            if (server_.data().pttl(lock) == -1) {
                known.endless_since = known.endless_since.value_or(in_.now());
            } else {
                known.endless_since.reset();
                on_held(lock);
            }
            on_maybe_free(lock);
        }
        known.counter = counter_of(lock);
        check(lock);
    }
}

void oracle::on_lost_writes(std::string const& holder, nanos until, bool gone) {
    auto& lost = lost_[holder];
    lost.until = std::max(lost.until, until);
    lost.since = in_.now();
    lost.gone = lost.gone || gone;
}

// A renewal for a shorter lease, of another one of those that share a hold, leaves the others with
// what the former primary has promised them.
void oracle::on_kept_after_failover(std::string const& lock, std::string const& holder) {
    auto const lost = lost_.find(holder);
    if (lost == lost_.end()) {
        return;
    }
    if (kept_until(lock, holder).value_or(0ns) >= lost->second.until) {
        lost_.erase(lost);
        reached(sometimes::survived_failover);
    }
}

// A node of a cluster sends it on to the one that has the slot now, which may answer before any
// node has told that client why the slot is there.
void oracle::on_missing_after_failover(std::string const& holder) {
    auto const lost = lost_.find(holder);
    if (server_.is_cluster() && lost != lost_.end()) {
        auto const healed = std::max(lost->second.since, last_disturbance_);
        lost->second.moved = lost->second.moved || in_.now() - healed < slowest_map;
    }
}

bool oracle::lost_in_failover(std::string const& holder, process const& of) const {
    auto const lost = lost_.find(holder);
    if (lost == lost_.end() || in_.now() > lost->second.until) {
        return false;
    }
    auto const since = std::max({lost->second.since, last_disturbance_, of.free_since()});
    bool const runs =
        !lost->second.unseen && !of.paused() && !of.any_lane_blocked() && !disturbed();
    return !runs || in_.now() - since < slowest_news;
}

// Whoever asks there may not have heard of the failover yet.
void oracle::on_slot_moved(std::string const& lock) {
    for (auto const& one : beliefs_) {
        if (lock_of(one.lock) == lock) {
            if (auto const lost = lost_.find(one.holder); lost != lost_.end()) {
                lost->second.moved = true;
            }
        }
    }
}

bool oracle::believes_in_vain(process const& of, std::string_view lock) const {
    return std::any_of(beliefs_.begin(), beliefs_.end(), [&](belief const& one) {
        return one.of == &of && lock_of(one.lock) == lock && lost_in_failover(one.holder, of);
    });
}

// Before it is over nobody is granted what somebody had when the primary failed.
void oracle::judge_delay(script_event const& what, std::string const& holder) {
    if (!failed_over_at_ || lock_delay_ == 0ns || known_again_) {
        return;
    }
    if (&server_.owner_of(what.lock) != &server_.primary()) {
        return;  // of another primary of the cluster
    }
    // For how long it is known is said by the server's own clock.
    if (last_step_ >= *failed_over_at_) {
        return;
    }
    // Clocks differ by less than one in a hundred.
    auto const ends = *failed_over_at_ + lock_delay_ - lock_delay_ / 100 - 2ms;
    if (in_.now() >= ends) {
        if (in_.now() < ends + lock_delay_) {
            reached(sometimes::grants_held_back);
        }
        return;
    }
    // One who has it already asks for more time.
    bool const has_it =
        holder == what.holder && truths_[std::string{what.lock}].holder_now == holder;
    if (!has_it && !what.late && !what.repeated) {
        in_.violation(fmt::format(
            "{} is granted {:.3f} s after a failover, in spite of lock_delay",
            what.lock,
            std::chrono::duration<double>{in_.now() - *failed_over_at_}.count()
        ));
    }
}

void oracle::judge_overlap(belief const& one, belief const& other) {
    if (excused_.contains(one.holder) || excused_.contains(other.holder)) {
        return;
    }
    reached(sometimes::overlap_failed_over);
    auto const stray = [&](belief const& which) {
        auto const lost = lost_.find(which.holder);
        return lost != lost_.end() && lost->second.stray;
    };
    if (lock_delay_ >= lease_ && lock_delay_ > 0ns && !known_again_ && !stray(one) &&
        !stray(other)) {
        in_.violation(fmt::format(
            "{} has two valid leases although lock_delay is as long as a lease: {} and {}",
            one.lock,
            describe(one),
            describe(other)
        ));
    }
}

// What a server does that was the primary, and does not know yet that it is not, is lost. Whoever
// hears of it believes it until the end that it has there.
void oracle::on_stray_script(script_event const& what) {
    std::string const lock{what.lock};
    auto const& reply = *what.reply;
    if (in_.traced()) {
        in_.trace(
            nullptr,
            fmt::format(
                "former primary runs {} of {} by {} for p{}: {}",
                what.script,
                lock,
                what.holder,
                what.from,
                reply.describe()
            )
        );
    }
    if (++scripts_ > most_scripts()) {
        in_.violation("a server is asked more than it should ever be: somebody polls");
    }
    if (reply.is_error()) {
        return;
    }
    auto const keep = [&](std::string const& holder) {
        on_lost_writes(holder, in_.now() + lease_ + lease_ / 100 + 2ms, true);
        lost_[holder].stray = true;
    };
    // A renewal of permits does not say whose they are.
    if (lock.empty() || is_pool(lock)) {
        for (auto const& [holder, lost] : lost_) {
            if (lost.stray) {
                keep(holder);
            }
        }
        for (auto const& [name, unused] : truths_) {
            for (auto const& holder :
                 is_pool(name) ? holders_of(name) : std::vector<std::string>{}) {
                keep(holder);
            }
        }
    }
    if (lock.empty()) {
        return;
    }
    hand_overs_.on_stray(lock, what.holder, server_.wall_clock_of(*what.stray));
    auto& known = truths_[lock];
    detail::script_reply const said{reply.text};
    auto const outcome = said.integer(0, -1);
    bool const tells_place =
        what.script == "lock.release" || (what.script == "lock.acquire" && outcome == 0);
    if (tells_place && said.integer(2) > 0) {
        hand_overs_.on_stray_place(lock, said.integer(2));
    }
    auto const give = [&](std::string const& holder, std::uint64_t first, std::uint64_t last) {
        keep(holder);
        hand_overs_.on_stray_grant(lock, holder);
        held_.emplace(said.nonce(), lock);
        known.give_tokens(first, std::max(first, last), holder);
        known.granted_at[holder] = in_.now();
    };
    auto const target = is_pool(lock) ? detail::make_semaphore_target({}, lock)
                                      : detail::make_lock_target({}, lock);
    auto const text = what.stray->data.get(target.counter()).value_or("0");
    auto const counter = std::strtoull(text.c_str(), nullptr, 10);
    if (what.does == "force_release") {
        excused_.insert(known.last_holder);
    }
    bool const asks = what.does == "acquire" || what.does == "take_over" || what.does == "renew";
    if (asks && outcome == 1) {
        reached(sometimes::stray_grant);
        auto const first = static_cast<std::uint64_t>(said.integer(1));
        if (first != 0) {
            give(std::string{what.holder}, first, counter);
        } else {
            keep(std::string{what.holder});
        }
    } else if (asks && outcome == 0) {
        held_.emplace(said.nonce(), lock);
        if (what.does == "acquire") {
            on_told_busy(what, said);
        }
        // The clock of the former primary has gone forward.
        if (auto const lost = lost_.find(what.holder); lost != lost_.end()) {
            lost->second.ended = true;
        }
    }
    // A release may have given it to the next one, and so may the attempt of one who comes later.
    for (auto const& [field, unused] : what.stray->data.hgetall(lock)) {
        if (auto const holder = without_mode(field); field != "mode" && holder != what.holder) {
            keep(holder);
            if ((what.does == "release" || what.does == "acquire") &&
                !known.holder_of(client_of(holder), counter)) {
                give(holder, counter, counter);
            }
        }
    }
}

// Whoever lost a lock by a failover is told so; and only he is.
void oracle::judge_reason(loss_reason why, belief const& of) {
    auto const lost = lost_.find(of.holder);
    bool const by_failover = lost != lost_.end() && lost->second.gone && !lost->second.stray &&
                             !lost->second.unseen && !lost->second.moved && !lost->second.ended;
    if (why == loss_reason::failed_over && !failed_over_at_ && !server_.has_restarted()) {
        in_.violation(of.lock + " is said to be lost by a failover, and there was none");
    }
    if (why == loss_reason::deleted && by_failover && !excused_.contains(of.holder)) {
        in_.violation(of.lock + " was lost by a failover, and is said to be deleted");
    }
}

}  // namespace holdfast::sim
