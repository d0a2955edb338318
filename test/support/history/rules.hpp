#ifndef HOLDFAST_TEST_HISTORY_RULES_HPP
#define HOLDFAST_TEST_HISTORY_RULES_HPP

#include "support/history/event.hpp"

#include <chrono>
#include <cstdint>
#include <string_view>

namespace holdfast::history {

/// What a history may break.
enum class rule {
    malformed,        // it cannot be what happened: the test itself is wrong
    clean_start,      // there was nothing before anything began
    exclusion,        // one holder at a time believes that it has the lock
    deadline,         // nobody else gets the lock before the deadline of one who did not give it
                      // up; deadlines only move forward
    data_loss,        // no renewal succeeds that was sent after the server had lost the lock
    dead_on_arrival,  // no lease is handed out that is over
    validity,         // a lease is valid until its loss margin, and no longer, whoever was asleep
    permits,          // no more permits of a semaphore are taken than there are
    majority,         // without a majority of its nodes nobody is granted a quorum lock
    observation,      // observers see the leader, and none that came before one that they have seen
    token_order,      // a later grant has a greater token
    token_reuse,      // no two grants have the same token
    stale_access,     // the resource accepts no token that is smaller than one it has seen
    lost_update,      // with the token, no write overwrites what its holder had not read
    told_in_time,     // who loses a lease is told before its deadline
    renewal,          // in calm times a lease that is renewed is not lost
    progress,         // once the fault is over, who waits is granted the lock
    hand_over,        // in calm times a lock that was released goes to who waits for it
    promptness,       // what has a time limit keeps it
    redirection,      // a lock that has another server is looked for at the former one no longer
    nothing_left,     // when nobody wants a lock, nothing of it is left
    survival,         // no worker ends, hangs, or runs hot
};

std::string_view name_of(rule broken);

struct rules {
    /// How many permits each semaphore has; 0: what is taken are locks.
    std::int64_t permits = 0;
    /// Leases stand on others, those of a quorum's nodes or of several locks: when one of these is
    /// lost, the deadline may move back, and each has a loss margin of its own.
    bool quorum = false;
    /// Each holder knows the token of its grant. Redisson's fair lock has none.
    bool tokens = true;
    nanos lease = std::chrono::seconds{1};
    nanos loss_margin = lease / 3;                         // from the loss to the deadline
    nanos grant_within = lease + std::chrono::seconds{5};  // after the fault, or the request
    nanos hand_over_within = lease * 7 / 10;               // a lost wake-up costs a lease
    nanos service_within = std::chrono::seconds{2};        // after a failover, to each worker
    nanos observe_within = std::chrono::seconds{1};        // in calm times, of a new leader
    nanos renew_within = lease / 6;
    nanos release_within = lease / 3;
    /// Of each client, when the lock gets another server: an attempt, a release and a renewal may
    /// be under way.
    std::int64_t redirections_of_a_lock = 3;
    /// How late an answer to what has a time limit may be.
    nanos slack = std::chrono::seconds{1};
    /// How long a process must have been free since a lease was over to be blamed for what its
    /// holder does not know.
    nanos time_to_tell = std::chrono::milliseconds{100};
    /// How long an event loop may be kept busy by its own process.
    nanos longest_block = std::chrono::milliseconds{200};
};

}  // namespace holdfast::history

#endif
