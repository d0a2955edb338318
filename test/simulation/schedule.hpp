#ifndef HOLDFAST_TEST_SIMULATION_SCHEDULE_HPP
#define HOLDFAST_TEST_SIMULATION_SCHEDULE_HPP

#include "simulation/sometimes.hpp"

#include <cstdint>
#include <string>

namespace holdfast::sim {

/// What came of one schedule.
struct outcome {
    /// Of everything that happened, in its order: the same seed has the same.
    std::uint64_t hash = 0;
    std::uint64_t steps = 0;
    std::uint64_t grants = 0;
    std::uint64_t faults = 0;
    sometimes_counts reached{};
    /// Empty if every promise was kept.
    std::string violation;
};

/// Runs the schedule of this seed: some clients, some locks, some faults, then an end to all
/// faults, and the proof that everybody got what he waited for and nothing was left behind.
///
/// `traced` prints every step of interest.
[[nodiscard]] outcome run_schedule(std::uint64_t seed, bool traced = false);

}  // namespace holdfast::sim

#endif
