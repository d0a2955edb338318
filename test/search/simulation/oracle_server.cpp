// What the oracle learns from the server: who got the lock, and until when.

#include "protocol/lock.hpp"
#include "protocol/reply.hpp"
#include "protocol/semaphore.hpp"
#include "simulation/oracle.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace holdfast::sim {

namespace {

// The shortest `orphan_after`, by a clock that is fast.
constexpr nanos shortest_patience = 49ms;

// Of a node of a cluster that does not have the keys, or not all of them: another one is asked, or
// this one again.
bool is_elsewhere(std::string_view error) {
    return error.starts_with("MOVED ") || error.starts_with("ASK ") ||
           error.starts_with("TRYAGAIN ");
}

// What the user of the client may not do, or nobody without a login; in older servers' words, and
// in those for a script.
bool is_denial(std::string_view error) {
    return error.starts_with("NOPERM") || error.starts_with("NOAUTH") ||
           error.find("ACL failure") != error.npos ||
           error.find("can't run this command") != error.npos ||
           error.find("can't access at least one of the keys") != error.npos;
}

sometimes place_of(std::string_view error) {
    return error.starts_with("MOVED") ? sometimes::redirected
           : error.starts_with("ASK") ? sometimes::asked_elsewhere
                                      : sometimes::keys_apart;
}

}  // namespace

void oracle::on_script(script_event const& what) {
    std::string const lock{what.lock};
    auto const& reply = *what.reply;
    in_.mark(what.script);
    if (what.holder.find(':') != what.holder.npos) {
        clients_[std::string{client_of(what.holder)}] = what.from;
    }
    if (what.stray) {
        on_stray_script(what);
        return;
    }
    if (lock == counting_judge::semaphore || lock == counting_judge::latch) {
        if (in_.traced()) {
            in_.trace(
                nullptr,
                fmt::format(
                    "server runs {} of {} for p{}: {}",
                    what.script,
                    lock,
                    what.from,
                    reply.describe()
                )
            );
        }
        counting_.on_script(what);
        return;
    }
    auto& known = truths_[lock];
    if (++scripts_ > most_scripts()) {
        in_.violation("the server is asked more than it should ever be: somebody polls");
    }
    if (what.late) {
        reached(sometimes::executed_late);
    }
    if (in_.traced()) {
        in_.trace(
            nullptr,
            fmt::format(
                "server runs {} of {} by {} for p{}: {}",
                what.script,
                lock,
                what.holder,
                what.from,
                reply.describe()
            )
        );
    }
    if (is_pool(lock)) {
        permits_.on_script(what);
    }
    if (reply.is_error()) {
        bool const comes_again = is_elsewhere(reply.text);
        if (reply.text.starts_with("NOSCRIPT") || comes_again) {
            reached(comes_again ? place_of(reply.text) : sometimes::not_known);
            if (what.does == "renew") {
                ++known.renewals_to_come[std::string{what.holder}];
            }
        } else if (is_denial(reply.text)) {
            reached(sometimes::denied);
            if (what.does == "release") {
                known.release_denied.insert(std::string{what.holder});
            }
            if (shifted_.contains(what.from)) {
                denied_at_[what.from] = in_.now();
            }
        } else {
            reached(sometimes::refused);
        }
        // A script that is refused a command may have taken tokens before.
        known.counter = counter_of(lock);
        return;
    }
    if (is_pool(lock)) {
        on_pool_script(what);
        return;
    }
    detail::script_reply const said{reply.text};
    auto const outcome = said.integer(0, -1);
    if (what.does == "acquire" || what.does == "take_over") {
        if (outcome == 1) {
            auto const first = static_cast<std::uint64_t>(said.integer(1));
            on_granted(known, what, std::string{what.holder}, first, counter_of(lock));
            known.holder_now = what.holder;
            on_held(lock);
            if (what.late) {
                reached(sometimes::ghost);
            }
            if (said.integer(4) > 0) {
                reached(sometimes::learned_lease);
            }
            if (what.does == "take_over") {
                on_taken_over(known, lock);
            }
        }
        // That a lock has changed says nothing of who has it.
        bool const refused = outcome == 0 && what.does == "acquire";
        // The name of a reader whose lease is over stays while others read.
        bool const reads = what.script.starts_with("read");
        bool const gone = reads && reading_.left_of(lock, what.holder) <= 0;
        if (refused && !gone && holds_on_server(lock, std::string{what.holder})) {
            in_.violation(lock + " is refused to the holder who has it");
        }
        if (refused) {
            on_told_busy(what, said);
        }
        // If one of its own got it, the others of that client know, too.
        if (refused || outcome == 1) {
            held_.emplace(said.nonce(), lock);
        }
    } else if (what.does == "renew") {
        auto const released = known.released_over.find(what.holder);
        if (released != known.released_over.end() && released->second == what.over &&
            what.over != 0 && !what.again && !what.repeated &&
            known.renewals_to_come[std::string{what.holder}]-- <= 0) {
            in_.violation(lock + " is renewed by a holder who has released it");
        }
        if (outcome == 1) {
            if (!holds_on_server(lock, std::string{what.holder})) {
                in_.violation(lock + " is renewed for a holder who does not have it");
            }
            on_held(lock);
            if (what.extends) {
                on_renewed(known, what);
                on_kept_after_failover(lock, std::string{what.holder});
            }
            if (auto const first = static_cast<std::uint64_t>(said.integer(1)); first != 0) {
                on_tokens(known, what, std::string{what.holder}, first, counter_of(lock));
            }
        } else if (outcome == 0) {
            on_missing_after_failover(std::string{what.holder});
        }
    } else if (what.does == "release" || what.does == "force_release") {
        on_released(known, what);
        if (outcome == 1) {
            // Rules may forbid the notification.
            bool const silent = said.integer(1, 1) == 0;
            known.freed_in_silence = known.freed_in_silence || silent;
            known.released_over[std::string{what.holder}] = what.over;
            if (what.does == "release" && !known.delivered.contains(what.holder)) {
                reached(sometimes::withdrawn);
            }
            if (what.does == "force_release") {
                excused_.insert(known.last_holder);
                if (is_read_write(lock)) {
                    auto const& had = reading_.holders_before(lock);
                    excused_.insert(had.begin(), had.end());
                }
            }
            known.passed_on_at = -1ns;
            on_maybe_free(lock);
        }
        // It tells that the next client has it, or that those who do not queue have their turn.
        auto const queue = server_.queue_of(lock);
        bool const turn = !queue.empty() && queue.front().holder.empty();
        if (!said.text(5).empty() || (turn && !said.text(2).empty())) {
            held_.emplace(said.nonce(), lock);
        }
    }
    if (is_read_write(lock)) {
        reading_.on_script(what);
    } else if (is_fair(lock)) {
        fair_.on_script(what);
    } else {
        hand_overs_.on_script(what, known.delivered.contains(what.holder));
    }
    look_at_holder(known, what);
    known.counter = counter_of(lock);
    check(lock);
}

// Several hold something of it at a time.
void oracle::on_pool_script(script_event const& what) {
    std::string const pool{what.lock};
    auto& known = truths_[pool];
    detail::script_reply const said{what.reply->text};
    auto const outcome = said.integer(0, -1);
    if (what.does == "acquire") {
        if (outcome == 1) {
            auto const token = static_cast<std::uint64_t>(said.integer(1));
            on_granted(known, what, std::string{what.holder}, token, counter_of(pool));
            if (what.late) {
                reached(sometimes::ghost);
            }
            if (said.integer(4) > 0) {
                reached(sometimes::learned_lease);
            }
        }
        if (outcome == 0 || outcome == 1) {
            held_.emplace(said.nonce(), pool);
        }
    } else if (what.does == "release") {
        on_released(known, what);
        // Rules may forbid the notification.
        bool const silent = said.integer(outcome == 1 ? 1 : 2, 1) == 0;
        known.freed_in_silence = known.freed_in_silence || silent;
        if (outcome == 1 && !known.delivered.contains(what.holder)) {
            reached(sometimes::withdrawn);
        }
    } else if (what.does == "force_release" && outcome == 1) {
        auto const& holders = permits_.holders(pool);
        excused_.insert(holders.begin(), holders.end());
    }
    known.counter = counter_of(pool);
    on_maybe_free(pool);
    check(pool);
    check_later(pool);
}

// Only what another tool has left, and that somebody has seen for long enough.
void oracle::on_taken_over(truth& of, std::string const& lock) {
    reached(sometimes::taken_over);
    auto const since = std::exchange(of.endless_since, std::nullopt);
    if (!since) {
        in_.violation(lock + " is taken over from a holder whose lease ends");
    } else if (in_.now() - *since < shortest_patience) {
        in_.violation(lock + " is taken over too soon");
    }
}

// A script may give the lock to a holder other than the one that asked.
void oracle::look_at_holder(truth& of, script_event const& what) {
    std::string const lock{what.lock};
    if (is_read_write(lock)) {
        return;  // it is given to those that ask
    }
    auto const fields = server_.data().hgetall(lock);
    auto const now = fields.empty() ? std::string{} : fields.front().first;
    if (std::exchange(of.holder_now, now) == now || now.empty() || now == what.holder) {
        return;
    }
    // Somebody who is not of this library takes no token.
    auto const token = counter_of(lock);
    if (token == 0 || token == of.counter) {
        return;
    }
    reached(sometimes::handed_over_directly);
    of.passed_on_at = in_.now();
    on_granted(of, what, now, token, token);
    on_held(lock);
}

std::uint64_t oracle::counter_of(std::string_view lock) {
    auto const target = is_pool(lock) ? detail::make_semaphore_target({}, lock)
                                      : detail::make_lock_target({}, lock);
    auto const text = server_.data().get(target.counter()).value_or("0");
    return std::strtoull(text.c_str(), nullptr, 10);
}

void oracle::on_answer(std::uint32_t process, value const& answer) {
    hand_overs_.on_arrival(process, answer);
    std::string const nonce{detail::script_reply{answer.text}.nonce()};
    auto const [first, end] = held_.equal_range(nonce);
    for (auto at = first; at != end; ++at) {
        busy_[{process, at->second}] = in_.now();
    }
}

void oracle::on_tokens(
    truth& of,
    script_event const& what,
    std::string const& holder,
    std::uint64_t first,
    std::uint64_t last
) {
    if (first <= of.last_token && !tokens_excused_) {
        if (back_at_once_ && known_again_) {
            of.given_again = of.last_token;
        } else {
            in_.violation(
                fmt::format("token {} of {} was granted after {}", first, what.lock, of.last_token)
            );
        }
    }
    of.last_token = std::max(of.last_token, last);
    of.give_tokens(first, last, holder);
}

void oracle::on_granted(
    truth& of,
    script_event const& what,
    std::string const& holder,
    std::uint64_t first,
    std::uint64_t last
) {
    on_tokens(of, what, holder, first, last);
    judge_delay(what, holder);
    // The former primary may have promised more to one whom a release gives the lock: he learns of
    // this grant later.
    if (holder == what.holder) {
        lost_.erase(holder);
    }
    of.granted_at[holder] = in_.now();
    if (what.late || what.repeated) {
        of.granted_late.insert(holder);
    } else {
        of.granted_late.erase(holder);
    }
    of.release_denied.erase(holder);
    if (!of.last_holder.empty() && of.last_holder != holder && of.last_process != what.from) {
        reached(sometimes::handed_over);
    }
    of.last_holder = holder;
    of.last_process = what.from;
    ++of.executions[holder];
    of.granted_over[holder] = what.over;
    of.free_since = -1ns;
    of.freed_in_silence = false;
}

void oracle::on_released(truth& of, script_event const& what) {
    of.released_at[std::string{what.holder}] = in_.now();
}

void oracle::on_renewed(truth const& of, script_event const& what) {
    auto const over = of.granted_over.find(what.holder);
    if (over != of.granted_over.end() && over->second != what.over) {
        reached(sometimes::renewed_elsewhere);
    }
    // A holder that is stuck does not keep its lock: nobody renews for it.
    bool held = false;
    bool stuck = true;
    for (auto const& one : beliefs_) {
        view_of const view{*one.of};
        // After a loss the hold may be another's, who waited in the same client.
        if (one.holder == what.holder && one.held->state() != lease_state::lost) {
            held = true;
            stuck = stuck && one.on->blocked && in_.now() - one.on->blocked_since > lease_;
        }
    }
    // It may have been joined by a multi-lock of the same owner that waits for another member.
    auto const of_process = processes_.find(what.from);
    stuck = stuck && of_process != processes_.end() && of_process->second &&
            !takes_beside_others(*of_process->second, what.lock);
    if (held && stuck && !disturbed() && last_disturbance_ + lease_ < in_.now() && !what.late) {
        in_.violation(std::string{what.lock} + " is renewed for a holder whose thread is stuck");
    }
}

// The key has a new end: nobody may believe beyond it.
void oracle::on_held(std::string const& lock) {
    auto const left = server_.data().pttl(lock);
    if (left == -1) {
        in_.violation("a key without an expiry: " + lock);
    }
    if (left < 0) {
        return;
    }
    check_later(lock);
    auto const end = in_.now() + server_.true_duration_of(std::chrono::milliseconds{left + 2});
    in_.at(
        end,
        [this, lock] {
            check(lock);
            if (server_.data().pttl(lock) == -2) {
                on_maybe_free(lock);
            }
        },
        only_looks
    );
}

// When the answer may have come.
void oracle::check_later(std::string const& lock) {
    for (auto const later : {50ms, 300ms, 1'000ms}) {
        in_.after(later, [this, lock] { check(lock); }, only_looks);
    }
}

}  // namespace holdfast::sim
