#ifndef HOLDFAST_TEST_SIMULATION_SCHEDULE_HPP
#define HOLDFAST_TEST_SIMULATION_SCHEDULE_HPP

#include "simulation/arena.hpp"

#include <cstdint>

namespace holdfast::sim {

/// Runs the schedule of this seed: some clients, some locks, some faults, then an end to all
/// faults, and the proof that all is well.
///
/// `traced` prints every step of interest.
[[nodiscard]] outcome run_schedule(
    std::uint64_t seed,
    deployment at = deployment::single,
    bool traced = false
);

}  // namespace holdfast::sim

#endif
