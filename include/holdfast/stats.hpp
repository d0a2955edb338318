#ifndef HOLDFAST_STATS_HPP
#define HOLDFAST_STATS_HPP

#include <chrono>
#include <cstdint>

namespace holdfast {

/// The number of leases that were lost, by reason. Each member counts the `loss_reason` of that
/// name.
struct loss_counts {
    /// @{
    /// Leases lost for this reason.
    std::uint64_t expired = 0;
    std::uint64_t taken = 0;
    std::uint64_t deleted = 0;
    std::uint64_t unreachable = 0;
    std::uint64_t max_hold = 0;
    std::uint64_t client_stopped = 0;
    std::uint64_t max_renewals = 0;
    std::uint64_t failed_over = 0;
    /// @}
};

/// The number of acquisitions that were granted after having waited, by the way of the lock.
struct hand_over_counts {
    /// From a holder of this client, without a command.
    std::uint64_t own_client = 0;
    /// From another client, by its release.
    std::uint64_t other_client = 0;
    /// The lock was free, and this client was told so.
    std::uint64_t notification = 0;
    /// The lock was free when its holder's lease had ended, or when this client looked by chance.
    std::uint64_t expiry = 0;
};

/// What a client has done so far.
///
/// Counters only grow. Members that end in `_now` are levels.
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
    /// How those came by the lock that waited for it.
    hand_over_counts hand_overs_by;
    /// Locks that another client handed to this one, and that the server then confirmed.
    std::uint64_t claims_confirmed = 0;
    /// Locks that another client handed to this one after its last waiter had gone. This client
    /// handed them on.
    std::uint64_t claims_passed_on = 0;
    /// Locks that this client handed to another one which did not claim them in time.
    std::uint64_t claims_lost = 0;
    /// The longest time between the start of an acquisition and its grant.
    std::chrono::nanoseconds longest_wait{0};
    /// The times from the start of an acquisition to its grant, added up.
    std::chrono::nanoseconds total_wait{0};
    /// The times from a grant to its release, or to the deadline if it was lost before, added up.
    /// Those that are held do not count yet.
    std::chrono::nanoseconds total_hold{0};
    /// Renewals that the server confirmed.
    std::uint64_t renewals = 0;
    /// Renewals that failed or were not answered in time.
    std::uint64_t failed_renewals = 0;
    /// Releases that the server confirmed.
    std::uint64_t releases = 0;
    /// Attempts that were withdrawn because the operation had ended before the answer came.
    std::uint64_t withdrawals = 0;
    /// Leases that were lost. The leases of one grant count as one.
    loss_counts losses;
    /// Connections that were made again after they had broken.
    std::uint64_t reconnects = 0;
    /// Messages received on the channels of locks, and on the client's own.
    std::uint64_t notifications = 0;
    /// Releases that the server's access rules did not allow to announce.
    std::uint64_t refused_notifications = 0;
    /// Commands sent: scripts, subscriptions, and the commands that set up a connection. Health
    /// checks of idle connections do not count.
    std::uint64_t commands = 0;
    /// Acquisitions that are waiting.
    std::uint64_t waiters_now = 0;
    /// Grants that have not ended: held, in doubt, or lost, before their release and deadline.
    std::uint64_t leases_now = 0;
    /// Connections that are up: to each server that is in use, one for commands and one for
    /// subscriptions.
    std::uint64_t connections_now = 0;
    /// Channels subscribed to.
    std::uint64_t subscriptions_now = 0;
};

}  // namespace holdfast

#endif
