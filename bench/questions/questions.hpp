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
figures many_keys(environment& env);
figures server_time(environment& env);
figures hand_over(environment& env);
figures contended_processes(environment& env);
figures one_key(environment& env);
figures parked(environment& env);
figures killed_holder(environment& env);
figures leases(environment& env);
figures compile_time(environment& env);

struct question {
    std::string_view name;
    figures (*ask)(environment&);
};

inline constexpr std::array all_questions{
    question{"pair", pair},
    question{"many_keys", many_keys},
    question{"server_time", server_time},
    question{"hand_over", hand_over},
    question{"contended_processes", contended_processes},
    question{"one_key", one_key},
    question{"parked", parked},
    question{"killed_holder", killed_holder},
    question{"leases", leases},
    question{"compile_time", compile_time},
};

}  // namespace holdfast::bench

#endif
