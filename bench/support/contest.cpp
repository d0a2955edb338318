#include "support/contest.hpp"

#include "support/measure.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace holdfast::bench {

namespace {

// Enough to start the processes and to connect each.
constexpr std::chrono::milliseconds head_start{400};

}  // namespace

std::vector<turn> hold_contest(environment& env, contest const& rules) {
    auto const start = now_ns() + std::chrono::nanoseconds{head_start}.count();
    std::vector<test::child_process> children;
    for (int i = 0; i < rules.processes; ++i) {
        std::vector<std::string> arguments{
            "contend",
            "--socket",
            env.socket(),
            "--name",
            rules.bare ? "contest:bare" : "contest:ours",
            "--hold-us",
            std::to_string(rules.hold_us),
            "--pause-us",
            std::to_string(rules.pause_us),
            "--start-at",
            std::to_string(start),
            "--duration-ms",
            std::to_string(rules.duration_ms),
        };
        if (rules.bare) {
            arguments.emplace_back("--bare");
        }
        children.push_back(env.start_child(std::move(arguments)));
    }

    std::vector<turn> turns;
    for (int i = 0; i < rules.processes; ++i) {
        auto& child = children[static_cast<std::size_t>(i)];
        std::istringstream lines{child.read_all(std::chrono::minutes{1})};
        turn t{.process = i};
        while (lines >> t.token >> t.called >> t.granted >> t.releasing) {
            turns.push_back(t);
        }
        if (child.wait() != 0) {
            throw std::runtime_error{"a contending process failed"};
        }
    }
    std::sort(turns.begin(), turns.end(), [](turn const& a, turn const& b) {
        return a.token < b.token;
    });
    return turns;
}

}  // namespace holdfast::bench
