#ifndef HOLDFAST_TEST_SUPPORT_FREE_PORT_HPP
#define HOLDFAST_TEST_SUPPORT_FREE_PORT_HPP

#include <cstdint>

namespace holdfast::test {

/// A port on 127.0.0.1 that nobody had a moment ago. Whoever uses it must expect to find it taken.
std::uint16_t free_tcp_port();

/// The same for a node of a Redis Cluster, which also takes the port that is 10 000 higher.
std::uint16_t free_cluster_port();

}  // namespace holdfast::test

#endif
