#ifndef HOLDFAST_TEST_SIMULATION_COUNTING_USER_HPP
#define HOLDFAST_TEST_SIMULATION_COUNTING_USER_HPP

#include "simulation/node.hpp"

#include <cstdint>

namespace holdfast::sim {

/// Users of the schedule's counting semaphore and its latch. Returns how often they will count
/// down.
std::int64_t start_counting_users(node& in, int how_many);

}  // namespace holdfast::sim

#endif
