#ifndef HOLDFAST_TEST_INTEGRATION_SEMAPHORE_FIXTURE_HPP
#define HOLDFAST_TEST_INTEGRATION_SEMAPHORE_FIXTURE_HPP

#include "support/one_server.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

// What the tests of semaphores share: the keys of one that is called L. Waiters and holders of
// another make stand there as Redisson's would; those of real Redisson are in interop/.
namespace holdfast::test::permits {

inline std::string const deadlines = "{L}:timeout";
inline std::string const channel = "redisson_sc:{L}";
inline std::string const queue = "holdfast_semaphore_queue:{L}";
inline std::string const heard = "holdfast_semaphore_heard:{L}";
inline std::string const counter = "holdfast_semaphore_token:{L}";
inline std::string const limit_record = "{L}:holdfast_limit";
inline std::string const java_permit = "0123456789abcdef";
inline std::string const never = "922337203685477";

inline std::chrono::milliseconds unix_time() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now().time_since_epoch()
    );
}

/// As Redisson's acquire script leaves a permit.
inline void take_from_java(
    redis_probe& probe,
    std::chrono::milliseconds lease,
    std::string const& permit = java_permit
) {
    probe.cmd("DECRBY", "L", 1);
    probe.cmd("ZADD", deadlines, (unix_time() + lease).count(), permit);
}

inline config with_patience(redis_server const& server, std::chrono::milliseconds patience) {
    auto settings = parse_url(server.url());
    settings.waiter_patience = patience;
    return settings;
}

inline bool queued(redis_probe& probe, std::int64_t count) {
    return probe.cmd("ZCARD", queue).as_integer() == count;
}

inline std::int64_t free_permits(redis_probe& probe) {
    return std::stoll(probe.get("L").value());
}

inline std::string first_permit(redis_probe& probe) {
    auto const members = probe.cmd("ZRANGE", deadlines, 0, 0);
    return members.as_array().front().as_string();
}

inline bool nothing_left(redis_probe& probe, std::int64_t limit) {
    return free_permits(probe) == limit && !probe.exists(deadlines) && !probe.exists(queue) &&
           !probe.exists(heard);
}

inline task take_in_turn(
    semaphore pool,
    int number,
    std::vector<int>& served,
    std::chrono::milliseconds hold = 2ms
) {
    auto lease = co_await pool.acquire();
    served.push_back(number);
    co_await sleep_for(hold);
    co_await lease.release();
}

}  // namespace holdfast::test::permits

#endif
