#ifndef HOLDFAST_BENCH_QUESTIONS_QUESTIONS_HPP
#define HOLDFAST_BENCH_QUESTIONS_QUESTIONS_HPP

#include "support/environment.hpp"
#include "support/figure.hpp"

#include <array>
#include <string_view>
#include <vector>

namespace holdfast::bench {

using figures = std::vector<figure>;

figures pair(environment& env);
figures multi_lock_pair(environment& env);
figures observer_cost(environment& env);
figures quorum(environment& env);
figures cluster(environment& env);
figures cluster_keys(environment& env);
figures system_calls(environment& env);
figures many_keys(environment& env);
figures server_time(environment& env);
figures hand_over(environment& env);
figures hand_over_apart(environment& env);
figures hand_over_far(environment& env);
figures contended_processes(environment& env);
figures fairness(environment& env);
figures one_key(environment& env);
figures listeners(environment& env);
figures readers(environment& env);
figures permits(environment& env);
figures latch_opens(environment& env);
figures parked(environment& env);
figures killed_holder(environment& env);
figures learned_lease(environment& env);
figures leases(environment& env);
figures compile_time(environment& env);

enum class cpus {
    /// Server and clients share one: for latencies.
    one,
    /// As the system distributes them: for throughput.
    all,
};

struct question {
    std::string_view name;
    figures (*ask)(environment&);
    cpus on;
};

inline constexpr std::array all_questions{
    question{"pair", pair, cpus::one},
    question{"multi_lock", multi_lock_pair, cpus::one},
    question{"observer", observer_cost, cpus::one},
    question{"quorum", quorum, cpus::one},
    question{"cluster", cluster, cpus::one},
    question{"cluster_keys", cluster_keys, cpus::all},
    question{"system_calls", system_calls, cpus::one},
    question{"many_keys", many_keys, cpus::all},
    question{"server_time", server_time, cpus::one},
    question{"hand_over", hand_over, cpus::one},
    question{"hand_over_apart", hand_over_apart, cpus::all},
    question{"hand_over_far", hand_over_far, cpus::all},
    question{"contended_processes", contended_processes, cpus::all},
    question{"fairness", fairness, cpus::all},
    question{"one_key", one_key, cpus::all},
    question{"listeners", listeners, cpus::all},
    question{"readers", readers, cpus::all},
    question{"permits", permits, cpus::one},
    question{"latch", latch_opens, cpus::all},
    question{"parked", parked, cpus::all},
    question{"killed_holder", killed_holder, cpus::one},
    question{"learned", learned_lease, cpus::all},
    question{"leases", leases, cpus::all},
    question{"compile_time", compile_time, cpus::all},
};

}  // namespace holdfast::bench

#endif
