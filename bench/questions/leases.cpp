// What do 10 000 leases cost the process that holds and renews them? Beside a bare lease: its key
// and its holder id, a timer, and a coroutine that sends the renewals.
#include "questions/questions.hpp"

#include <fmt/format.h>

#include <sstream>
#include <stdexcept>

namespace holdfast::bench {

namespace {

// Renewal costs by the second, so leases of 6 s show in a short time what leases of 30 s would
// cost: a fifth.
constexpr int nominal_ms = 30'000;

struct cost {
    double bytes = 0.0;
    double percent = 0.0;  // of a core, at leases of 30 s
    double lost = 0.0;
    double scripts_after = 0.0;
};

cost measure(environment& env, bool bare) {
    auto const lease_ms = env.amount(6000, 1500);
    std::vector<std::string> arguments{
        "keep",
        "--socket",
        env.socket(),
        "--name",
        bare ? "leases:bare" : "leases:ours",
        "--leases",
        std::to_string(env.amount(10'000, 2000)),
        "--lease-ms",
        std::to_string(lease_ms),
        "--window-ms",
        std::to_string(lease_ms * 2 / 3),
    };
    if (bare) {
        arguments.emplace_back("--bare");
    }
    auto child = env.start_child(std::move(arguments));
    std::istringstream line{child.read_all(std::chrono::minutes{1})};
    cost c;
    double share = 0.0;
    if (!(line >> c.bytes >> share >> c.lost >> c.scripts_after)) {
        throw std::runtime_error{"the process with the leases failed"};
    }
    c.percent = 100.0 * share * lease_ms / nominal_ms;
    return c;
}

}  // namespace

figures leases(environment& env) {
    comparison memory{"leases_memory", "bytes a lease", {budget::kind::ours_at_most, 2048.0}};
    comparison cpu{"leases_cpu", "% of a core", {budget::kind::ours_at_most, 3.0}};
    comparison lost{"leases_lost", "leases", {budget::kind::ours_at_most, 0.0}};
    comparison after{"leases_after_release", "scripts", {budget::kind::ours_at_most, 0.0}};
    for (int round = 0; round < env.rounds(); ++round) {
        env.progress(round);
        auto const floor = measure(env, true);
        auto const ours = measure(env, false);
        memory.add(ours.bytes, floor.bytes);
        cpu.add(ours.percent, floor.percent);
        lost.add(ours.lost, floor.lost);
        after.add(ours.scripts_after, floor.scripts_after);
    }
    auto const count = env.amount(10'000, 2000);
    return {
        memory.result(fmt::format("{} leases", count)),
        cpu.result(
            fmt::format("{} leases of {} s, scaled to leases of 30 s", count, env.amount(6.0, 1.5))
        ),
        lost.result(),
        after.result(),
    };
}

}  // namespace holdfast::bench
