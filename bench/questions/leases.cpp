// What do 100 000 leases cost the process that holds and renews them: where all holders share an
// executor, and where each has a strand of its own? Beside a bare lease: its key and its holder id,
// a timer, and a coroutine that sends the renewals.
#include "questions/questions.hpp"

#include <fmt/format.h>

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::bench {

namespace {

// Renewal costs by the second, so leases of 6 s show in a short time what leases of 30 s would
// cost: a fifth.
constexpr int nominal_ms = 30'000;
// A bare lease costs the same however many there are. So many times fewer leave the server time.
constexpr int fewer_bare = 10;

enum class holders { bare, together, on_strands };

int lease_ms(environment const& env) {
    return env.amount(6000, 1500);
}

int number(environment const& env) {
    return env.amount(100'000, 10'000);
}

struct cost {
    double bytes = 0.0;
    double percent = 0.0;  // of a core, at leases of 30 s
    double commands = 0.0;
    double late = 0.0;
    double lost = 0.0;
    double scripts_after = 0.0;
};

cost measure(environment& env, holders which) {
    bool const bare = which == holders::bare;
    auto const leases = bare ? number(env) / fewer_bare : number(env);
    std::vector<std::string> arguments{
        "keep",
        "--socket",
        env.socket(),
        "--name",
        bare ? "leases:bare" : "leases:ours",
        "--leases",
        std::to_string(leases),
        "--lease-ms",
        std::to_string(lease_ms(env)),
        "--window-ms",
        std::to_string(lease_ms(env) * 2 / 3),
    };
    if (which != holders::together) {
        arguments.emplace_back(bare ? "--bare" : "--strands");
    }
    auto child = env.start_child(std::move(arguments));
    std::istringstream line{child.read_all(std::chrono::minutes{2})};
    cost c;
    double share = 0.0;
    if (!(line >> c.bytes >> share >> c.commands >> c.late >> c.lost >> c.scripts_after)) {
        throw std::runtime_error{"the process with the leases failed"};
    }
    c.percent = 100.0 * share * lease_ms(env) / nominal_ms * number(env) / leases;
    return c;
}

// The answers for one kind of holders.
struct answers {
    answers(std::string const& prefix, double most_bytes, budget const& most_cpu)
        : memory{prefix + "_memory", "bytes a lease", {most, most_bytes}},
          cpu{prefix + "_cpu", "% of a core", most_cpu},
          commands{prefix + "_commands", "commands for 50 renewals", {most, 1.0}},
          late{prefix + "_late", "renewals", {most, 0.0}},
          lost{prefix + "_lost", "leases", {most, 0.0}},
          after{prefix + "_after_release", "scripts", {most, 0.0}} {}

    void add(cost const& ours, cost const& floor) {
        memory.add(ours.bytes, floor.bytes);
        cpu.add(ours.percent, floor.percent);
        commands.add(ours.commands, floor.commands);
        late.add(ours.late, floor.late);
        lost.add(ours.lost, floor.lost);
        after.add(ours.scripts_after, floor.scripts_after);
    }

    void append_to(figures& all, environment const& env) const {
        auto const seconds = lease_ms(env) / 1000.0;
        all.push_back(memory.result(
            fmt::format("{} leases, {} bare ones", number(env), number(env) / fewer_bare)
        ));
        all.push_back(
            cpu.result(fmt::format("leases of {} s, scaled to {} of 30 s", seconds, number(env)))
        );
        all.push_back(commands.result());
        all.push_back(late.result("more than half a lease after the one before"));
        all.push_back(lost.result());
        all.push_back(after.result());
    }

    static constexpr auto most = budget::kind::ours_at_most;
    comparison memory, cpu, commands, late, lost, after;
};

}  // namespace

figures leases(environment& env) {
    constexpr auto most = budget::kind::ours_at_most;
    answers together{"leases", 1024.0, {most, env.amount(2.0, 0.2)}};
    answers on_strands{"leases_on_strands", 2048.0, {}};
    for (int round = 0; round < env.rounds(); ++round) {
        env.progress(round);
        auto const floor = measure(env, holders::bare);
        together.add(measure(env, holders::together), floor);
        on_strands.add(measure(env, holders::on_strands), floor);
    }
    figures all;
    together.append_to(all, env);
    on_strands.append_to(all, env);
    return all;
}

}  // namespace holdfast::bench
