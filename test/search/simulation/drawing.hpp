#ifndef HOLDFAST_TEST_SIMULATION_DRAWING_HPP
#define HOLDFAST_TEST_SIMULATION_DRAWING_HPP

#include "simulation/random.hpp"

#include <holdfast/config.hpp>
#include <holdfast/error.hpp>
#include <holdfast/options.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

namespace holdfast::sim {

/// Draws the settings in which the clients of one schedule may differ. `settings.lease` is given.
void draw_settings(random_source& dice, config& settings);

/// Options that are valid with these settings: any that a program may write, without an owner.
[[nodiscard]] acquire_options draw_options(random_source& dice, config const& settings);

/// Options that are out of range, and the error that the acquisition has to end with.
[[nodiscard]] std::pair<acquire_options, errc> draw_wrong_options(random_source& dice);

/// What a lease with these options lasts without a renewal; nothing if the server decides it.
[[nodiscard]] std::optional<std::chrono::nanoseconds> length_of(
    config const& settings,
    acquire_options const& options
);

}  // namespace holdfast::sim

#endif
