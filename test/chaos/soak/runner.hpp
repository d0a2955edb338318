#ifndef HOLDFAST_TEST_SOAK_RUNNER_HPP
#define HOLDFAST_TEST_SOAK_RUNNER_HPP

#include "soak/cell_options.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::soak {

struct run_options {
    std::int64_t cycles = 100;
    std::optional<std::chrono::minutes> time;  // instead of `cycles`
    std::string fault;                         // empty: all of them, in turn …
    std::vector<std::string> faults;           // … or these, if there are any
    std::vector<std::string> servers;          // programs; the cells take them by turns
    bool one_version = true;                   // in some cells …
    bool two_versions = true;                  // … and in some
    int cells = 4;                             // side by side
    deployment kept_by = deployment::single;   // the servers of each cell
    workload shared = workload::locks;         // by the workers of a cell
    int workers = 3;                           // in each cell
    int coroutines = 16;                       // in each worker
    std::uint64_t seed = 1;
    std::string histories;  // the folder for those that broke a rule
};

/// How many cells there must be for one of each kind.
int kinds_of_cells(run_options const& options);

/// Prints progress on standard error, and violations and a table on standard output. False if a
/// rule was broken.
bool run(run_options const& options);

}  // namespace holdfast::soak

#endif
