#ifndef HOLDFAST_STATS_HPP
#define HOLDFAST_STATS_HPP

#include <chrono>
#include <cstdint>

namespace holdfast {

/// Leases that were lost, by reason: each member counts those of the `loss_reason` of that name.
struct loss_counts {
    /// @{
    /// Leases lost for this reason.
    std::uint64_t expired = 0;
    std::uint64_t taken = 0;
    std::uint64_t deleted = 0;
    std::uint64_t unreachable = 0;
    std::uint64_t max_hold = 0;
    std::uint64_t client_stopped = 0;
    /// @}
};

/// What a client has done so far. Counters only grow; `…_now` are levels.
struct stats {
    /// Acquire requests sent, repeated ones included.
    std::uint64_t attempts = 0;
    /// Attempts that were granted.
    std::uint64_t grants = 0;
    /// Attempts that were refused because another holder has the lock.
    std::uint64_t refusals = 0;
    /// Acquisitions that had to wait.
    std::uint64_t waits = 0;
    /// Acquisitions that joined a lease of the same owner.
    std::uint64_t re_entries = 0;
    /// Acquisitions that were granted after having waited.
    std::uint64_t hand_overs = 0;
    /// The longest time from the start of an acquisition to its grant.
    std::chrono::nanoseconds longest_wait{0};
    /// Renewals that the server confirmed.
    std::uint64_t renewals = 0;
    /// Renewals that failed or were not answered in time.
    std::uint64_t failed_renewals = 0;
    /// Releases that the server confirmed.
    std::uint64_t releases = 0;
    /// Attempts that were withdrawn because their caller had gone.
    std::uint64_t withdrawals = 0;
    /// Leases that were lost; those of one grant count as one.
    loss_counts losses;
    /// Connections that were made again after they had been up.
    std::uint64_t reconnects = 0;
    /// Messages received on channels of locks.
    std::uint64_t notices = 0;
    /// Releases whose message the server's access rules did not let out.
    std::uint64_t refused_notices = 0;
    /// Commands sent: scripts, subscriptions, and those that set up a connection. Health checks of
    /// idle connections do not count.
    std::uint64_t commands = 0;
    /// Acquisitions that wait.
    std::uint64_t waiters_now = 0;
    /// Grants that were not given back yet: held, in doubt, or lost and not released.
    std::uint64_t leases_now = 0;
    /// Channels subscribed to.
    std::uint64_t subscriptions_now = 0;
};

}  // namespace holdfast

#endif
