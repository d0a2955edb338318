#ifndef HOLDFAST_TEST_SOAK_TRANSFER_HPP
#define HOLDFAST_TEST_SOAK_TRANSFER_HPP

#include <cstdint>
#include <string>

namespace holdfast::soak {

struct transfer_options {
    int seconds = 60;
    int processes = 4;
    int coroutines = 8;
    int accounts = 16;
    std::uint64_t seed = 1;
};

/// Processes move money between accounts, two of which a multi-lock holds at a time, and are killed
/// at random. An audit of all accounts, which holds all of them, finds the same sum again and
/// again, and nothing is left on the server one lease after the end.
///
/// @throws std::runtime_error saying what is wrong.
void transfer(transfer_options const& options);

struct transfer_worker_options {
    std::string server;
    int coroutines = 8;
    int accounts = 16;
    std::uint64_t seed = 1;
};

/// One of the processes, until it gets a SIGTERM.
void transfer_as_worker(transfer_worker_options const& options);

}  // namespace holdfast::soak

#endif
