#ifndef HOLDFAST_TEST_SOAK_CELL_OPTIONS_HPP
#define HOLDFAST_TEST_SOAK_CELL_OPTIONS_HPP

#include "support/history/event.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace holdfast::soak {

// What cells write down.
using namespace history;

using millis = std::chrono::milliseconds;

enum class deployment {
    single,     // one server
    sentinels,  // three of them, a primary and two replicas
    cluster,    // three primaries with a replica each
    nodes,      // five that know nothing of each other: those of a quorum
};

/// What the workers of a cell share.
enum class workload {
    locks,    // several, taken in every way there is
    permits,  // those of one semaphore
    leaders,  // the leadership of one election, which each of them observes, too
    quorum,   // locks that stand on all servers
    pairs,    // locks, two of which are held together, as the accounts of a transfer
};

struct cell_options {
    std::string server_program;  // empty: redis-server
    deployment kept_by = deployment::single;
    workload shared = workload::locks;
    std::string address{};  // of the servers, with commas; the cell says it to its workers
    int workers = 3;
    bool two_versions = false;  // the first worker does as version 0.1 did: it does not queue
    int coroutines = 16;        // in each
    int time_scale = 1;         // all limits times this, where programs run slowly
    std::uint64_t seed = 1;     // what the workers draw from
};

}  // namespace holdfast::soak

#endif
