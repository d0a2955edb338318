#ifndef HOLDFAST_TEST_INTEGRATION_READ_WRITE_FIXTURE_HPP
#define HOLDFAST_TEST_INTEGRATION_READ_WRITE_FIXTURE_HPP

#include "support/one_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// What the tests of read/write locks share: the keys of one that is called L. Readers of another
// make have the lock as Redisson's would; real Redisson is in interop/.
namespace holdfast::test::sides {

inline std::string const queue = "holdfast_rwlock_queue:{L}";
inline std::string const heard = "holdfast_rwlock_heard:{L}";
inline std::string const java_thread = "71b96ce8-2746-4c7e-9a51-0f6de2f5a111:1";
inline std::string const hold_of_java = "{L}:" + java_thread + ":rwlock_timeout:1";

inline config with_patience(redis_server const& server, std::chrono::milliseconds patience) {
    auto settings = parse_url(server.url());
    settings.waiter_patience = patience;
    return settings;
}

template <class Lock>
task take_in_turn(Lock lock, int number, std::vector<int>& served) {
    auto lease = co_await lock.acquire();
    served.push_back(number);
    co_await sleep_for(2ms);
    co_await lease.release();
}

template <class Lock>
void wait_in_background(
    asio::any_io_executor const& executor,
    Lock lock,
    int number,
    std::vector<int>& served
) {
    asio::co_spawn(executor, take_in_turn(std::move(lock), number, served), asio::detached);
}

inline bool queued(redis_probe& probe, std::int64_t count) {
    return probe.cmd("ZCARD", queue).as_integer() == count;
}

inline task nothing_is_left(redis_probe& probe) {
    BOOST_TEST(co_await co_eventually(5s, [&] {
        auto const keys = probe.cmd("KEYS", "*");
        return keys.elements.size() == 1U;  // the token counter
    }));
}

/// As Redisson's script leaves a reader.
inline void read_from_java(redis_probe& probe, std::chrono::milliseconds lease) {
    probe.cmd("HSET", "L", "mode", "read", java_thread, 1);
    probe.cmd("SET", hold_of_java, 1, "PX", lease.count());
    probe.cmd("PEXPIRE", "L", lease.count());
}

}  // namespace holdfast::test::sides

#endif
