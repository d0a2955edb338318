#ifndef HOLDFAST_LOCK_INFO_HPP
#define HOLDFAST_LOCK_INFO_HPP

#include <holdfast/fencing_token.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace holdfast {

/// What `inspect()` of a lock found.
struct lock_info {
    /// Whether somebody holds the lock.
    bool held = false;
    /// The time until the lock's key expires. Empty if the lock is free, or if the key has no
    /// expiry (see `never_expires`).
    std::optional<std::chrono::milliseconds> remaining;
    /// The key has no expiry: a tool that crashed left it behind, or somebody removed the expiry.
    /// Nobody gets this lock until an operator deletes the key or calls `lock::force_release()`.
    bool never_expires = false;
    /// `<client id>:<number>` of the holder; empty if the lock is free. The connections of its
    /// client are called `<client_name>:<client id>`, see `config::client_name`.
    std::string holder;
    /// How often the holder has acquired the lock; always 1 for a holder that uses this library. 0
    /// if the lock is free.
    std::uint64_t hold_count = 0;
    /// Of a read/write lock, on both sides: the number of holds for reading. The readers of one
    /// client may share one.
    std::size_t readers = 0;
    /// The newest fencing token of this lock that was granted, or that its holder's client has
    /// reserved for the next ones; zero if there is none.
    fencing_token last_token;
    /// The number of clients in the server's queue, which get the lock in order. A client is in it
    /// once, however many of its operations wait; in that of a `fair_lock`, once for each; of a
    /// `read_write_lock`, those on the side that was asked. Of a `lock` without `config::hand_over`
    /// it is zero.
    std::size_t waiting_clients = 0;
    /// The number of operations of this client that wait for the lock.
    std::size_t local_waiters = 0;
};

}  // namespace holdfast

#endif
