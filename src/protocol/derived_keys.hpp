#ifndef HOLDFAST_PROTOCOL_DERIVED_KEYS_HPP
#define HOLDFAST_PROTOCOL_DERIVED_KEYS_HPP

#include <array>
#include <string_view>

namespace holdfast::detail {

/// What the keys and channels that belong to a lock begin with. The lock's tag follows: its name,
/// in braces unless it contains one.
namespace beginning {

inline constexpr std::string_view token = "redisson_lock_token:";
inline constexpr std::string_view lock_channel = "redisson_lock__channel:";
inline constexpr std::string_view queue = "holdfast_queue:";
inline constexpr std::string_view waiters = "holdfast_waiters:";
inline constexpr std::string_view hold = "holdfast_hold:";
inline constexpr std::string_view client = "holdfast_client:";
inline constexpr std::string_view fair_queue = "redisson_lock_queue:";
inline constexpr std::string_view fair_timeout = "redisson_lock_timeout:";
inline constexpr std::string_view fair_trust = "holdfast_fair:";
inline constexpr std::string_view rw_channel = "redisson_rwlock:";
inline constexpr std::string_view rw_queue = "holdfast_rwlock_queue:";
inline constexpr std::string_view rw_heard = "holdfast_rwlock_heard:";
inline constexpr std::string_view read_hold = "holdfast_read_hold:";
inline constexpr std::string_view write_hold = "holdfast_write_hold:";
inline constexpr std::string_view semaphore_channel = "redisson_sc:";
inline constexpr std::string_view semaphore_token = "holdfast_semaphore_token:";
inline constexpr std::string_view semaphore_queue = "holdfast_semaphore_queue:";
inline constexpr std::string_view semaphore_turns = "holdfast_semaphore_turns:";
inline constexpr std::string_view semaphore_heard = "holdfast_semaphore_heard:";
inline constexpr std::string_view semaphore_hold = "holdfast_semaphore_hold:";
inline constexpr std::string_view done = "holdfast_done:";
inline constexpr std::string_view latch_channel = "redisson_countdownlatch__channel__";
inline constexpr std::string_view leader = "holdfast_leader:";
/// Redisson's own: a release that was executed.
inline constexpr std::string_view released = "redisson_unlock_latch:";

inline constexpr std::array all{
    token,
    lock_channel,
    queue,
    waiters,
    hold,
    client,
    fair_queue,
    fair_timeout,
    fair_trust,
    rw_channel,
    rw_queue,
    rw_heard,
    read_hold,
    write_hold,
    semaphore_channel,
    semaphore_token,
    semaphore_queue,
    semaphore_turns,
    semaphore_heard,
    semaphore_hold,
    done,
    latch_channel,
    leader,
    released,
};

}  // namespace beginning

/// What the other keys of a lock end with. They begin with its tag. The channel of a waiter of a
/// fair lock is that of the lock with its holder id behind it.
namespace ending {

/// The permits of a semaphore that are out.
inline constexpr std::string_view permits = ":timeout";
/// The limit of a semaphore, and its longest lease.
inline constexpr std::string_view limit = ":holdfast_limit";
/// A hold of a reader, with its number behind it.
inline constexpr std::string_view reader = ":rwlock_timeout:";

}  // namespace ending

/// The key `holdfast_server` behind the prefix, where clients note since when they have known a
/// server; in a cluster, with `:` and a number in braces behind it.
inline constexpr std::string_view server_word = "holdfast_server";

}  // namespace holdfast::detail

#endif
