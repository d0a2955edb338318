#ifndef HOLDFAST_BENCH_JOBS_JOBS_HPP
#define HOLDFAST_BENCH_JOBS_JOBS_HPP

#include <chrono>
#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace holdfast::bench {

// What this program does as its own child. Each job prints its results, one line each.

struct contend_options {
    std::string socket;
    std::string name;
    // `ours`, `first_version`: the same without hand-over, which works as version 0.1 did, or
    // `bare`: one who stays subscribed and tries at each message, over the same Boost.Redis.
    std::string kind = "ours";
    int coroutines = 1;
    int hold_us = 1000;         // between grant and release
    int pause_us = 0;           // between release and the next acquire
    std::uint16_t port = 0;     // of the server on this machine; zero: by its socket
    std::int64_t start_at = 0;  // of CLOCK_MONOTONIC, in ns: all processes begin together
    int duration_ms = 1000;
};
/// Acquires and releases one key over and over; prints token, call, grant and release of each turn.
void contend(contend_options const& options);

struct hold_options {
    std::string socket;
    std::string name;
    int keys = 1;
    int lease_ms = 1000;
    bool learned = false;
    int brief_holds = 0;  // of 50 ms each, before
};
/// Acquires `name:0`, `name:1`, …, prints "held", and waits to be killed.
void hold(hold_options const& options);

struct keep_options {
    std::string socket;
    std::string name;
    bool bare = false;
    bool strands = false;  // one for each lease, and not one executor for all
    int leases = 10'000;
    int lease_ms = 6000;
    int window_ms = 4000;
};
/// Holds leases for a while. Prints the bytes a lease, the share of a core that renewing takes, the
/// commands for 50 renewals, the renewals that came later than half a lease after the one before,
/// the leases lost, and the scripts that were sent after the last release.
void keep(keep_options const& options);

struct pairs_options {
    std::string socket;
    std::string name;
    bool bare = false;
    int pairs = 1000;
};
/// Acquires and releases one key that nobody else wants; prints nothing.
void pairs(pairs_options const& options);

struct pass_options {
    std::string socket;
    std::string name;
    int waiters = 250;
};
/// Waits for a latch many times over. Prints "waiting" once the server would tell all of them, and
/// when the last one passed, in ns of CLOCK_MONOTONIC.
void pass(pass_options const& options);

/// Hidden subcommands. The one that was asked for is run while the arguments are parsed.
void add_jobs(CLI::App& app);

}  // namespace holdfast::bench

#endif
