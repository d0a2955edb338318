#include "simulation/fair_judge.hpp"

#include "protocol/fair_lock.hpp"
#include "protocol/reply.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace holdfast::sim {

fair_judge::fair_judge(world& in, server& of, std::function<void(sometimes)> reached)
    : in_{in},
      server_{of},
      reached_{std::move(reached)} {}

bool fair_judge::listens(std::string_view lock, std::string_view holder) {
    auto const target = detail::make_fair_lock_target({}, lock);
    return server_.subscribers(std::string{target.channel()}.append(":").append(holder)) > 0;
}

void fair_judge::on_before(std::string_view lock) {
    auto& known = locks_[std::string{lock}];
    known.before.clear();
    auto const target = detail::make_fair_lock_target({}, lock);
    auto const queue = server_.as_operator({"LRANGE", target.queue(), "0", "-1"});
    for (auto const& one : queue.elements) {
        known.before.push_back(one.text);
    }
    known.was_held = server_.data().exists(std::string{lock});
}

void fair_judge::on_script(script_event const& what) {
    auto& known = locks_[std::string{what.lock}];
    detail::script_reply const said{what.reply->text};
    if (what.does != "acquire" || what.reply->is_error()) {
        return;
    }
    auto const now = in_.now();
    if (said.integer(0, -1) == 0 && said.integer(3) > 0) {
        known.heard_at[std::string{what.holder}] = now;
        placed_late_ = placed_late_ || what.late;
        return;
    }
    if (said.integer(0, -1) != 1 || known.was_held) {
        return;
    }
    std::string_view gone_client;
    for (auto const& one : known.before) {
        if (one == what.holder) {
            break;
        }
        auto const heard = known.heard_at.find(one);
        // Clocks differ by less than that.
        nanos const shortest = patience_ - patience_ / 50;
        if (heard == known.heard_at.end() || now - heard->second >= shortest) {
            gone_client = client_of(one);
            reached_(sometimes::silent_passed_over);
        } else if (last_step_ + 2 * patience_ < now &&
                   (gone_client != client_of(one) || listens(what.lock, one))) {
            in_.violation(fmt::format(
                "{} goes to {} before the turn of {}, who came first and was heard of",
                what.lock,
                what.holder,
                one
            ));
        }
    }
    if (!known.before.empty()) {
        reached_(sometimes::granted_in_turn);
    }
}

}  // namespace holdfast::sim
