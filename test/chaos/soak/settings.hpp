#ifndef HOLDFAST_TEST_SOAK_SETTINGS_HPP
#define HOLDFAST_TEST_SOAK_SETTINGS_HPP

#include "soak/cell_options.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace holdfast::soak {

// What the conductor and its workers must agree on.

inline constexpr std::chrono::milliseconds lease_time{1000};  // the shortest that is allowed
/// Of the lease, between the loss and the deadline: enough for a busy machine to tell the holder.
inline constexpr double notice_part = 1.0 / 3.0;
inline constexpr std::chrono::nanoseconds notice_time{static_cast<std::chrono::nanoseconds::rep>(
    static_cast<double>(std::chrono::nanoseconds{lease_time}.count()) * notice_part
)};

inline constexpr int hot_locks = 3;   // held for a moment
inline constexpr int long_locks = 8;  // held for about a lease
/// Locks are numbered: the hot ones first.
inline constexpr int all_locks = hot_locks + long_locks;
/// What the connections of a worker are called.
inline std::string name_of_worker(std::int64_t number) {
    return "worker-" + std::to_string(number);
}
/// How many permits the semaphore has.
inline constexpr std::int64_t permits_limit = 10;
/// In the sets of locks that events speak of.
constexpr std::int64_t bit_of(std::int64_t lock) {
    return std::int64_t{1} << lock;
}
/// Coroutines of a worker that take long locks; the others take hot ones.
inline constexpr int patient_coroutines = 6;

inline constexpr char const* user_name = "worker";
inline constexpr char const* user_password = "secret";
inline constexpr char const* key_prefix = "soak:";

/// What the user may do: no more than the library needs. After the user's name in an ACL command.
inline std::string const user_rules =
    "on >secret resetchannels ~soak:* ~redisson_lock_token:{soak:* "
    "~redisson_lock__channel:{soak:* ~holdfast_queue:{soak:* ~holdfast_hold:{soak:* "
    "&redisson_lock__channel:{soak:* &holdfast_waiters:{soak:* &holdfast_client:* "
    "+ping +time +evalsha +eval +subscribe +unsubscribe +pttl +hkeys +hgetall +hexists +hset +hdel "
    "+set +get +incr +incrby +pexpire +pexpireat +exists +del +publish +zadd +zrem +zrange +zrank "
    "+zscore +zcount +pubsub|numsub";
/// And besides for a semaphore.
inline std::string const user_rules_of_permits =
    "~{soak:* ~holdfast_semaphore_token:{soak:* ~holdfast_semaphore_queue:{soak:* "
    "~holdfast_semaphore_heard:{soak:* ~holdfast_semaphore_hold:{soak:* ~redisson_sc:{soak:* "
    "~holdfast_semaphore_turns:{soak:* &redisson_sc:{soak:* &holdfast_semaphore_turns:{soak:* "
    "+zcard +zrangebyscore";
/// And besides for an election.
inline std::string const user_rules_of_leaders =
    "~holdfast_leader:{soak:* &holdfast_leader:{soak:* +persist";
/// And besides on the nodes of a quorum, whose clients look when they were started.
inline std::string const user_rules_of_quorum = "+info";
/// And besides on a cluster, where it may look which server it is, too.
inline std::string const user_rules_of_cluster =
    "+info +cluster|slots +asking +spublish +ssubscribe +sunsubscribe +pubsub|shardnumsub";
/// What the user may do on a server that has no other beside it.
inline std::string user_rules_for(workload shared) {
    switch (shared) {
        case workload::permits: return user_rules + " " + user_rules_of_permits;
        case workload::leaders: return user_rules + " " + user_rules_of_leaders;
        case workload::quorum: return user_rules + " " + user_rules_of_quorum;
        case workload::locks:
        case workload::pairs: break;
    }
    return user_rules;
}

}  // namespace holdfast::soak

#endif
