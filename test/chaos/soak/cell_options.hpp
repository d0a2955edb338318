#ifndef HOLDFAST_TEST_SOAK_CELL_OPTIONS_HPP
#define HOLDFAST_TEST_SOAK_CELL_OPTIONS_HPP

#include <chrono>
#include <cstdint>
#include <string>

namespace holdfast::soak {

using millis = std::chrono::milliseconds;

enum class deployment {
    single,     // one server
    sentinels,  // three of them, a primary and two replicas
    cluster,    // three primaries with a replica each
};

struct cell_options {
    std::string server_program;  // empty: redis-server
    deployment kept_by = deployment::single;
    std::string address{};  // of the servers; the cell says it to its workers
    int workers = 3;
    bool two_versions = false;  // the first worker does as version 0.1 did: it does not queue
    int coroutines = 16;        // in each
    int time_scale = 1;         // all limits times this, where programs run slowly
    std::uint64_t seed = 1;     // what the workers draw from
};

}  // namespace holdfast::soak

#endif
