#include "simulation/hand_over_judge.hpp"

#include "protocol/hand_over_message.hpp"
#include "protocol/lock.hpp"
#include "protocol/reply.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace holdfast::sim {

hand_over_judge::hand_over_judge(world& in, server& of, std::function<void(sometimes)> reached)
    : in_{in},
      server_{of},
      reached_{std::move(reached)} {
    server_.on_grant_lost = [this] { reached_(sometimes::grant_lost); };
}

void hand_over_judge::on_before(std::string_view lock) {
    locks_[std::string{lock}].before = {server_.queue_of(lock), holder_of(lock)};
}

std::string hand_over_judge::holder_of(std::string_view lock) {
    auto const fields = server_.data().hgetall(lock);
    return fields.empty() ? std::string{} : fields.front().first;
}

bool hand_over_judge::listens(std::string_view lock, std::string_view client) {
    auto const channel = server_.is_cluster()
                             ? detail::channel_of_client(client, detail::make_lock_target({}, lock))
                             : detail::channel_of_client(client);
    return server_.subscribers(channel) > 0;
}

void hand_over_judge::on_script(script_event const& what, bool delivered) {
    auto& known = locks_[std::string{what.lock}];
    auto const client = client_of(what.holder);
    processes_[std::string{client}] = what.from;
    detail::script_reply const said{what.reply->text};
    if (what.script == "lock.release") {
        note_release(what, delivered);
        if (auto const kept = said.integer(2); kept > 0) {
            known.kept.insert(static_cast<double>(kept));
            // It may be the first one at once, and was in no queue then.
            std::string const next{said.text(5)};
            if (!next.empty() && client_of(next) == client) {
                known.scores.emplace(next, static_cast<double>(kept));
            }
        }
    } else if (what.script == "lock.acquire" && !said.text(2).empty() && said.integer(0) == 0) {
        places_[std::string{said.nonce()}] = what.holder;
    }
    auto const now = holder_of(what.lock);
    if (known.unclaimed.to == what.holder || known.unclaimed.to != now) {
        known.unclaimed = {};
    }
    if (what.script == "lock.acquire") {
        known.granted_elsewhere.erase(std::string{what.holder});
    }
    bool const may_give = what.script == "lock.acquire" || what.script == "lock.release";
    if (may_give) {
        judge_places(known, what);
    }
    if (may_give && !now.empty() && now != known.before.holder) {
        on_new_holder(known, what, now);
    }
}

void hand_over_judge::on_new_holder(
    history& known,
    script_event const& what,
    std::string const& now
) {
    known.had_it.insert(now);
    auto const& queue = known.before.queue;
    if (!what.queues) {
        if (!queue.empty()) {
            reached_(sometimes::two_versions);
        }
        return;
    }
    judge_order(known, what, now);
    if (now == what.holder) {
        return;
    }
    known.unclaimed = {now, what.from};
    known.granted_at[now] = in_.now();
    auto const to = processes_.find(client_of(now));
    if (to != processes_.end() && stopped_.contains(to->second)) {
        reached_(sometimes::receiver_stopped);
    }
    if (stopped_.contains(what.from)) {
        reached_(sometimes::releaser_stopped);
    }
}

// Whoever is not in the queue, and was not before, has come after all that are.
void hand_over_judge::judge_order(
    history const& known,
    script_event const& what,
    std::string const& now
) {
    auto const& queue = known.before.queue;
    auto const own = std::find_if(queue.begin(), queue.end(), [&](queue_entry const& one) {
        return one.holder == now;
    });
    auto const had = known.scores.find(now);
    auto const score = own != queue.end()          ? own->score
                       : had != known.scores.end() ? had->second
                                                   : std::numeric_limits<double>::infinity();
    for (auto const& one : queue) {
        // A turn of those who do not queue has no holder. Whoever releases is done with his place.
        if (one.holder.empty() || one.score >= score || one.holder == what.holder) {
            continue;
        }
        bool const came_back =
            known.granted_elsewhere.contains(one.holder) && client_of(one.holder) == client_of(now);
        if (came_back) {
            continue;
        }
        if (!listens(what.lock, client_of(one.holder))) {
            reached_(sometimes::dead_passed_over);
        } else if (!excused_) {
            in_.violation(fmt::format(
                "{} goes to {} before the turn of {}, who came first and is there",
                what.lock,
                now,
                one.holder
            ));
        }
    }
}

// Of one of its client who was granted the lock, and gave it back because no replica had that.
bool hand_over_judge::takes_place(history const& known, queue_entry const& of) {
    return std::any_of(known.scores.begin(), known.scores.end(), [&](auto const& one) {
        return one.second == of.score && one.first != of.holder &&
               client_of(one.first) == client_of(of.holder) && known.had_it.contains(one.first);
    });
}

// Whoever has just come stands behind the others, whatever the server's clock does.
void hand_over_judge::judge_places(history& known, script_event const& what) {
    auto const& before = known.before.queue;
    auto last = -std::numeric_limits<double>::infinity();
    auto const now = server_.queue_of(what.lock);
    for (auto const& one : now) {
        bool const was_there = std::any_of(before.begin(), before.end(), [&](auto const& other) {
            return other.holder == one.holder;
        });
        last = was_there && !one.holder.empty() ? std::max(last, one.score) : last;
    }
    for (auto const& one : now) {
        known.scores[one.holder] = one.score;
        bool const is_new = !one.holder.empty() && known.came.insert(one.holder).second;
        // An attempt that is executed once more stands where it stood.
        bool const again = what.late || what.repeated || one.score <= known.last_stray ||
                           known.kept.contains(one.score) || takes_place(known, one);
        if (is_new && one.score <= last && !again) {
            in_.violation(fmt::format(
                "{} has just come, and stands before others in the queue of {}",
                one.holder,
                what.lock
            ));
        }
    }
}

void hand_over_judge::note_release(script_event const& what, bool delivered) {
    if (what.late) {
        reached_(delivered ? sometimes::release_late : sometimes::withdrawal_late);
    }
    if (what.repeated) {
        auto const now = holder_of(what.lock);
        if (!delivered) {
            reached_(sometimes::withdrawal_repeated);
        } else if (!now.empty() && now != what.holder) {
            reached_(sometimes::release_repeated);
        }
    }
    auto const queue = server_.queue_of(what.lock);
    if (!queue.empty() && queue.front().holder.empty()) {
        reached_(sometimes::turn_of_others);
    }
}

void hand_over_judge::on_arrival(std::uint32_t process, value const& message) {
    if (message.elements.size() != 3) {
        if (!message.text.empty()) {
            places_.erase(std::string{detail::script_reply{message.text}.nonce()});
        }
        return;
    }
    auto const read = detail::read_hand_over_message(message.elements[2].text);
    if (!read || read->what != detail::hand_over_message::kind::grant) {
        return;
    }
    auto const& granted_at = locks_[std::string{read->lock}].granted_at;
    auto const granted = granted_at.find(read->holder);
    if (granted != granted_at.end() && in_.now() - granted->second > 100ms) {
        reached_(sometimes::grant_late);
    }
    if (!arrived_.emplace(read->holder).second) {
        reached_(sometimes::grant_repeated);
    }
    if (std::any_of(places_.begin(), places_.end(), [&](auto const& one) {
            return one.second == read->holder;
        })) {
        reached_(sometimes::grant_early);
    }
    if (stopped_.contains(process)) {
        reached_(sometimes::receiver_stopped);
    }
}

void hand_over_judge::on_stopped(std::uint32_t process) {
    stopped_.insert(process);
    for (auto const& [lock, known] : locks_) {
        if (!known.unclaimed.to.empty() && known.unclaimed.from == process) {
            reached_(sometimes::releaser_stopped);
        }
    }
}

void hand_over_judge::on_clock_step(bool back) {
    for (auto const& [lock, known] : locks_) {
        if (!known.unclaimed.to.empty()) {
            reached_(back ? sometimes::clock_back_unclaimed : sometimes::clock_forward_unclaimed);
        }
    }
}

}  // namespace holdfast::sim
