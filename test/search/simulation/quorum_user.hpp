#ifndef HOLDFAST_TEST_SIMULATION_QUORUM_USER_HPP
#define HOLDFAST_TEST_SIMULATION_QUORUM_USER_HPP

#include "simulation/node.hpp"

namespace holdfast::sim {

/// Coroutines of this process that use the locks of a quorum: so many, each with so many
/// operations.
void start_quorum_users(node& in, int users, int operations);

}  // namespace holdfast::sim

#endif
