#ifndef HOLDFAST_TEST_SOAK_LEFTOVERS_HPP
#define HOLDFAST_TEST_SOAK_LEFTOVERS_HPP

#include "soak/servers.hpp"
#include "soak/worker_handle.hpp"
#include "support/history/event.hpp"

#include <string>
#include <vector>

namespace holdfast::soak {

struct leftover_rules {
    /// When a client went last without giving up its places in queues; 0: never.
    instant place_left = 0;
    /// Some do not queue.
    bool two_versions = false;
    workload shared = workload::locks;
};

/// All keys and channels.
std::vector<std::string> what_is_there(servers& on);

/// What is left although nobody wants a lock any more: keys, channels, connections, descriptors.
std::vector<std::string> what_is_left(
    servers& on,
    std::vector<worker_handle>& workers,
    leftover_rules const& by
);

}  // namespace holdfast::soak

#endif
