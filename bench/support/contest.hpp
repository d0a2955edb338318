#ifndef HOLDFAST_BENCH_SUPPORT_CONTEST_HPP
#define HOLDFAST_BENCH_SUPPORT_CONTEST_HPP

#include "support/environment.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::bench {

/// Several processes that want the same key, over and over (see `jobs/contend.cpp`).
struct contest {
    int processes = 2;
    bool bare = false;
    int hold_us = 1000;
    int pause_us = 0;
    int duration_ms = 1000;
};

/// One grant; instants are in ns of CLOCK_MONOTONIC.
struct turn {
    int process = 0;
    std::uint64_t token = 0;
    std::int64_t called = 0;
    std::int64_t granted = 0;
    std::int64_t releasing = 0;
};

/// Runs the processes to their end; the turns of all of them, in the order of the grants.
[[nodiscard]] std::vector<turn> hold_contest(environment& env, contest const& rules);

}  // namespace holdfast::bench

#endif
