#ifndef HOLDFAST_TEST_SIMULATION_WORKLOAD_HPP
#define HOLDFAST_TEST_SIMULATION_WORKLOAD_HPP

#include "simulation/node.hpp"

namespace holdfast::sim {

/// Starts users who do what the dice say: so many operations each, and once all is healed one more
/// acquisition, which nobody may be denied.
void start_workers(node& in, int workers, int operations);

}  // namespace holdfast::sim

#endif
