#ifndef HOLDFAST_TEST_SIMULATION_DEPLOYMENT_HPP
#define HOLDFAST_TEST_SIMULATION_DEPLOYMENT_HPP

#include <cstddef>

namespace holdfast::sim {

/// Where the locks of a schedule are, and what may become of it.
enum class deployment {
    single,    // one server
    failover,  // a primary and its replica, found by way of Sentinels or of a name
    quorum,    // several servers that know nothing of each other
    cluster,   // two primaries, one of which has a replica; slots move
};

/// A replica may take the place of its primary.
[[nodiscard]] constexpr bool fails_over(deployment at) noexcept {
    return at == deployment::failover || at == deployment::cluster;
}

// Of `failover`. The servers are the first machines, and the Sentinels come after them.
inline constexpr std::size_t servers = 2;
inline constexpr std::size_t sentinels = 3;
inline constexpr char const* primary_name = "main";
// Of `cluster`: the second one is the replica of the first.
inline constexpr std::size_t cluster_nodes = 3;

}  // namespace holdfast::sim

#endif
