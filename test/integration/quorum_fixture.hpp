#ifndef HOLDFAST_TEST_INTEGRATION_QUORUM_FIXTURE_HPP
#define HOLDFAST_TEST_INTEGRATION_QUORUM_FIXTURE_HPP

#include "support/ended_acquire.hpp"
#include "support/node_group.hpp"

#include <chrono>

// What the tests of quorum locks share.
namespace holdfast::test {

using ended_quorum = ended_acquire<quorum_lease>;

/// A lock that was had once: connections are up, scripts are known, and so is the servers' time.
inline task get_to_know(node_clients& clients) {
    co_await clients.ready();
    auto lease = co_await clients.lock("another").acquire();
    co_await lease.release();
}

/// Leases of two seconds; nodes are left out for so long after their start.
inline config with_restart_delay(std::chrono::milliseconds delay) {
    auto settings = node_group::settings();
    settings.lease = 2s;
    settings.restart_delay = delay;
    return settings;
}

}  // namespace holdfast::test

#endif
