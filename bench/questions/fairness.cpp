// Do our processes and those that do not queue get their shares of one lock, when ten of each want
// it all the time? A process counts once, however many wait in it: one of each kind has ten
// waiters. The floor is a lock that is fair.
#include "questions/questions.hpp"
#include "support/contest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::bench {

namespace {

constexpr int processes_of_a_kind = 10;
constexpr int crowd = 10;
constexpr double most_unfair = 1.0 / 3.0;
constexpr int sides_of_a_kind = 2;

contest_record compete(environment& env, std::string const& one_kind, std::string const& other) {
    contest rules{.duration_ms = 1000 * env.fairness_seconds()};
    for (auto const& kind : {one_kind, other}) {
        rules.sides.push_back({.kind = kind, .processes = processes_of_a_kind - 1});
        rules.sides.push_back({.kind = kind, .processes = 1, .coroutines = crowd});
    }
    return hold_contest(env, rules);
}

double longest_wait_ms(contest_record const& record, int first_side) {
    double longest = 0.0;
    for (int side = first_side; side < first_side + sides_of_a_kind; ++side) {
        longest = std::max(longest, record.longest_wait_ms(side));
    }
    return longest;
}

void ask(environment& env, std::string const& kind, figures& answers) {
    auto const name = "fairness_" + kind;
    // How far the kind that is farther from its fair share has more or less than that.
    comparison share{name, "of the fair share", {budget::kind::ours_at_least, most_unfair}};
    comparison wait{name + "_our_wait", "ms", {budget::kind::ours_at_most, 2000.0}};
    // Who wins among themselves is up to them.
    comparison their_wait{name + "_their_wait", "ms", {budget::kind::ratio_at_most, 1.1}};
    auto const record = compete(env, "ours", kind);
    auto const alone = compete(env, kind, kind);
    auto const ours = 2.0 * (record.share_of(0) + record.share_of(1));
    auto const theirs = 2.0 - ours;
    share.add(std::min({ours, theirs, 1.0 / std::max(ours, theirs)}), 1.0);
    // One who waits in the crowd has every tenth turn of its process.
    auto const fair_wait = 2 * processes_of_a_kind * crowd * record.milliseconds_a_grant();
    wait.add(longest_wait_ms(record, 0), fair_wait);
    their_wait.add(
        longest_wait_ms(record, sides_of_a_kind),
        std::max(longest_wait_ms(alone, 0), longest_wait_ms(alone, sides_of_a_kind))
    );
    answers.push_back(share.result(
        fmt::format("shares over the fair one: ours {:.2f}, theirs {:.2f}", ours, theirs)
    ));
    answers.push_back(wait.result(fmt::format(
        "the longest of ours, {} s, {} grants; fair: in a crowd of ten",
        env.fairness_seconds(),
        record.turns.size()
    )));
    answers.push_back(
        their_wait.result("the longest of theirs; floor: as many of them without any of ours")
    );
}

}  // namespace

figures fairness(environment& env) {
    figures answers;
    ask(env, "first_version", answers);
    return answers;
}

}  // namespace holdfast::bench
