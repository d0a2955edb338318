#ifndef HOLDFAST_TEST_SOAK_WORKER_PROCESS_HPP
#define HOLDFAST_TEST_SOAK_WORKER_PROCESS_HPP

#include "soak/cell_options.hpp"

#include <cstdint>
#include <string>

namespace holdfast::soak {

struct worker_options {
    std::string server;    // UNIX socket, or several with commas, or a URL
    std::string resource;  // UNIX socket
    std::string history;
    std::int64_t number = 1;
    workload shared = workload::locks;
    int coroutines = 16;
    int threads = 1;
    bool hands_over = true;
    std::uint64_t seed = 1;
};

/// A program that uses locks, or what its cell shares instead, told by signals what to do. It
/// answers on standard output:
///
/// - when it is connected: `ready`
/// - SIGUSR1, begin a round of work: `going`
/// - SIGUSR2, end the round: `drained WAITERS LEASES SUBSCRIPTIONS`, when every coroutine was
///   granted something once more and the client's levels are zero, or should have been by now
/// - SIGTERM: it ends
void work(worker_options const& options);

}  // namespace holdfast::soak

#endif
