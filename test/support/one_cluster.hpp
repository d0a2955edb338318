#ifndef HOLDFAST_TEST_SUPPORT_ONE_CLUSTER_HPP
#define HOLDFAST_TEST_SUPPORT_ONE_CLUSTER_HPP

// What most tests with a Redis Cluster begin with.

#include "support/one_server.hpp"
#include "support/redis_cluster.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <utility>

namespace holdfast::test {

using cluster_body = std::function<task(redis_cluster&, asio::any_io_executor)>;

/// Three primaries. It takes seconds to form a cluster: the tests of a program share it, empty.
inline redis_cluster& shared_cluster() {
    static redis_cluster shared;
    shared.flush();
    return shared;
}

/// Runs a coroutine with the shared cluster, as `run_with_deadline`.
inline void with_cluster(
    cluster_body const& body,
    std::chrono::milliseconds deadline = hang_limit
) {
    auto& cluster = shared_cluster();
    run_with_deadline(
        [&](asio::any_io_executor executor) { return body(cluster, std::move(executor)); },
        deadline
    );
}

/// Two test cases: `HOLDFAST_FOR_CHANNELS(name) { … kind … }`. That with sharded channels is
/// skipped where the server is older than Redis 7.0, and has none.
#define HOLDFAST_FOR_CHANNELS(name)                                        \
    static void name(holdfast::cluster_channel_kind);                      \
    BOOST_AUTO_TEST_CASE(name##_by_sharded_channels, *needs_version_7()) { \
        name(holdfast::cluster_channel_kind::sharded);                     \
    }                                                                      \
    BOOST_AUTO_TEST_CASE(name##_by_plain_channels) {                       \
        name(holdfast::cluster_channel_kind::plain);                       \
    }                                                                      \
    static void name(holdfast::cluster_channel_kind kind)

/// For two clients of a lock: one waits while the other has it.
class waiting_acquire {
public:
    waiting_acquire(asio::any_io_executor const& executor, holdfast::lock lock)
        : state_{std::make_shared<state>(std::move(lock))} {
        asio::co_spawn(executor, run(state_), asio::detached);
    }
    bool granted() const { return state_->got.valid(); }
    error_code error() const { return state_->error; }
    holdfast::lease& lease() { return state_->got; }

private:
    struct state {
        explicit state(holdfast::lock of) : on{std::move(of)} {}
        holdfast::lock on;
        holdfast::lease got;
        error_code error;
    };
    static task run(std::shared_ptr<state> of) {
        auto acquire = of->on.acquire(as_result);
        auto [ec, lease] = co_await std::move(acquire);
        of->error = ec;
        of->got = std::move(lease);
    }

    std::shared_ptr<state> state_;
};

}  // namespace holdfast::test

#endif
