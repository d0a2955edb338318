// What does the server have to do for a grant when eight processes want one key, and how long does
// the unluckiest wait? Beside a bare lock that stays subscribed and tries at each message.
#include "questions/questions.hpp"
#include "support/contest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::bench {

namespace {

constexpr int processes = 8;

struct outcome {
    double commands;            // a grant
    double longest_wait_turns;  // in mean times between two grants
    double longest_wait_ms;
};

outcome measure(environment& env, contest const& rules) {
    std::vector<std::string_view> const lock_commands{
        "evalsha",
        "eval",
        "subscribe",
        "unsubscribe"
    };
    auto const before = env.calls(lock_commands);
    auto const turns = hold_contest(env, rules);
    auto const sent = env.calls(lock_commands) - before;

    std::int64_t longest = 0;
    for (auto const& t : turns) {
        longest = std::max(longest, t.granted - t.called);
    }
    auto const grants = static_cast<double>(std::max<std::size_t>(turns.size(), 1));
    auto const turn_ms = rules.duration_ms / grants;
    auto const longest_ms = static_cast<double>(longest) / 1e6;
    return {static_cast<double>(sent) / grants, longest_ms / turn_ms, longest_ms};
}

}  // namespace

figures contended_processes(environment& env) {
    comparison commands{
        "contended_processes",
        "commands a grant",
        {budget::kind::ours_at_most, 1.0 + processes}
    };
    comparison wait{"contended_longest_wait", "ms", {}};
    contest rules{.processes = processes, .duration_ms = env.amount(2000, 500)};
    double turns = 0.0;
    for (int round = 0; round < env.rounds(); ++round) {
        env.progress(round);
        rules.bare = true;
        auto const floor = measure(env, rules);
        rules.bare = false;
        auto const ours = measure(env, rules);
        commands.add(ours.commands, floor.commands);
        wait.add(ours.longest_wait_ms, floor.longest_wait_ms);
        turns = std::max(turns, ours.longest_wait_turns);
    }
    return {
        commands.result(fmt::format("{} processes", processes)),
        wait.result(fmt::format("worst: {:.0f} turns of others", turns)),
    };
}

}  // namespace holdfast::bench
