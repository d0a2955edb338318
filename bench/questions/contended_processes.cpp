// What does the server have to do for a grant when many processes want one key, and how fairly are
// they served? Beside a bare lock that stays subscribed and tries at each message.
#include "questions/questions.hpp"
#include "support/contest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::bench {

namespace {

constexpr double starvation_ms = 5000.0;
// Three, and what is under way at one end of the time that is counted.
constexpr double most_commands = 3.01;

struct outcome {
    double commands = 0.0;  // a grant
    double drought_ms = 0.0;
    double longest_wait_ms = 0.0;
    double fair_turn_ms = 0.0;  // until all the others had it once
    double percent_taken_back = 0.0;

    [[nodiscard]] double longest_wait_turns() const { return longest_wait_ms / fair_turn_ms; }

    void raise_to(outcome const& other) {
        drought_ms = std::max(drought_ms, other.drought_ms);
        longest_wait_ms = std::max(longest_wait_ms, other.longest_wait_ms);
    }
};

outcome measure(environment& env, contest const& rules) {
    auto const record = hold_contest(env, rules);
    return {
        .commands = record.commands_a_grant,
        .drought_ms = record.longest_drought_ms(rules.processes()),
        .longest_wait_ms = record.longest_wait_ms(),
        .fair_turn_ms = rules.processes() * record.milliseconds_a_grant(),
        .percent_taken_back = record.percent_taken_back(),
    };
}

void ask(environment& env, int processes, figures& answers) {
    auto const name = [&](char const* what) {
        return fmt::format("contended_{}_{}", processes, what);
    };
    comparison commands{
        name("commands"),
        "commands a grant",
        {budget::kind::ours_at_most, most_commands}
    };
    comparison drought{name("drought"), "ms", {budget::kind::ours_at_most, starvation_ms}};
    comparison wait{name("longest_wait"), "fair turns", {budget::kind::ours_at_most, 3.0}};
    auto const fair = 100.0 / processes;
    comparison taken_back{
        name("taken_back"),
        "% of grants",
        {budget::kind::ours_at_most, fair + 10.0}
    };
    contest rules{
        .sides = {{.processes = processes}},
        .duration_ms = env.amount(6000, 500),  // long enough for a process to starve
    };
    outcome worst{};
    outcome worst_floor{};
    auto const rounds = env.rounds(3);
    for (int round = 0; round < rounds; ++round) {
        env.progress(round, rounds);
        rules.sides[0].kind = "bare";
        auto const floor = measure(env, rules);
        rules.sides[0].kind = "ours";
        auto const ours = measure(env, rules);
        commands.add(ours.commands, floor.commands);
        wait.add(ours.longest_wait_turns(), floor.longest_wait_turns());
        taken_back.add(ours.percent_taken_back, floor.percent_taken_back);
        worst.raise_to(ours);
        worst_floor.raise_to(floor);
    }
    drought.add(worst.drought_ms, worst_floor.drought_ms);
    answers.push_back(commands.result());
    answers.push_back(drought.result("longest time of a process without a grant, worst round"));
    answers.push_back(wait.result(fmt::format("worst: {:.0f} ms", worst.longest_wait_ms)));
    answers.push_back(taken_back.result(fmt::format("fair: {:.3g}", fair)));
}

}  // namespace

figures contended_processes(environment& env) {
    figures answers;
    for (int const processes : {8, 30}) {
        ask(env, processes, answers);
    }
    return answers;
}

}  // namespace holdfast::bench
