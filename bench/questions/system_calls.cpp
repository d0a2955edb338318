// How many system calls does a pair cost this side? Against two bare round trips. Counted by
// strace: a run of more pairs minus a run of fewer leaves out how the process starts and ends.
#include "questions/questions.hpp"

#include <cmath>
#include <sstream>
#include <stdexcept>

namespace holdfast::bench {

namespace {

double counted(environment& env, bool bare, int pairs) {
    std::vector<std::string> arguments{
        "pairs",
        "--socket",
        env.socket(),
        "--name",
        bare ? "system_calls:bare" : "system_calls:ours",
        "--pairs",
        std::to_string(pairs),
    };
    if (bare) {
        arguments.emplace_back("--bare");
    }
    auto child = env.start_child(
        std::move(arguments),
        {"strace",
         "--follow-forks",
         "--summary-only",
         "--summary-columns=calls,name",
         "--output=/dev/stdout"}
    );
    std::istringstream table{child.read_all(std::chrono::minutes{1})};
    if (child.wait() != 0) {
        throw std::runtime_error{"strace, or the process under it, failed"};
    }
    double calls = 0.0;
    for (std::string line; std::getline(table, line);) {
        std::istringstream words{line};
        std::string name;
        if (words >> calls >> name && name == "total") {
            return calls;
        }
    }
    throw std::runtime_error{"strace gave no total"};
}

double calls_a_pair(environment& env, bool bare) {
    constexpr int few = 100;
    auto const more = env.amount(500, 100);
    auto const calls = (counted(env, bare, few + more) - counted(env, bare, few)) / more;
    // A timer fires now and then.
    return std::round(calls * 10.0) / 10.0;
}

}  // namespace

figures system_calls(environment& env) {
    comparison result{"system_calls", "calls a pair", {budget::kind::above_floor_at_most, 1.0}};
    for (int round = 0; round < env.rounds(); ++round) {
        env.progress(round);
        auto const floor = calls_a_pair(env, true);
        auto const ours = calls_a_pair(env, false);
        result.add(ours, floor);
    }
    return {result.result("strace")};
}

}  // namespace holdfast::bench
