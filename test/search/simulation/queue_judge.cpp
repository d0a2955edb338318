#include "simulation/queue_judge.hpp"

#include <fmt/core.h>

namespace holdfast::sim {

void queue_judge::on_failover() {
    for (auto& [name, known] : locks_) {
        known.heard_at.clear();
    }
}

void queue_judge::on_before(std::string_view lock, value const& queue) {
    auto& known = locks_[std::string{lock}];
    known.before.clear();
    for (auto const& one : queue.elements) {
        known.before.push_back(one.text);
    }
}

void queue_judge::on_placed(script_event const& what, std::string_view place) {
    locks_[std::string{what.lock}].heard_at[std::string{place}] = in_.now();
    placed_late_ = placed_late_ || what.late;
}

void queue_judge::on_granted(
    script_event const& what,
    std::string_view place,
    sometimes in_turn,
    excuse const& may_be_passed,
    nanos less
) {
    auto const& known = locks_[std::string{what.lock}];
    // Clocks differ by less than that.
    nanos const shortest = patience_ - patience_ / 50 - less;
    std::string_view gone;
    for (auto const& one : known.before) {
        if (one == place) {
            break;
        }
        if (may_be_passed(one, gone)) {
            continue;
        }
        auto const heard = known.heard_at.find(one);
        if (heard == known.heard_at.end() || in_.now() - heard->second >= shortest) {
            gone = one;
            reached_(sometimes::silent_passed_over);
        } else if (last_step_ + 2 * patience_ < in_.now()) {
            in_.violation(fmt::format(
                "{} goes to {} before the turn of {}, who came first and was heard of",
                what.lock,
                place,
                one
            ));
        }
    }
    if (!known.before.empty()) {
        reached_(in_turn);
    }
}

}  // namespace holdfast::sim
