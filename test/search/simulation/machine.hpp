#ifndef HOLDFAST_TEST_SIMULATION_MACHINE_HPP
#define HOLDFAST_TEST_SIMULATION_MACHINE_HPP

#include "memory_server/redis_model.hpp"
#include "simulation/link.hpp"
#include "simulation/world.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::sim {

/// One process that clients connect to: a server of locks or a Sentinel, with its address, its data
/// and its clock.
struct machine {
    std::uint32_t number = 0;
    std::string host;
    std::uint16_t port = 0;
    bool is_sentinel = false;
    /// A primary of a cluster, which all know of or will.
    bool is_member = false;
    redis_model data{};
    /// For what comes out of nowhere.
    redis_model::session_id ghost = data.connect([](value) {});
    /// Of an operator to whom no rule applies; zero: none yet.
    redis_model::session_id by_operator = 0;
    std::vector<std::shared_ptr<link>> links{};
    nanos clock_offset{0};
    /// When its process began, and what its clock said more than it should then.
    nanos began_at{-1h};
    nanos offset_then{0};
    bool paused = false;
    bool up = true;
    /// Since when it is not up, if it is not.
    nanos down_since{0};
    /// New connections are refused.
    bool refuses = false;
    bool pings_fail = false;
    /// What the next scripts are answered with, which are not run.
    std::deque<std::string> refusals{};
};

}  // namespace holdfast::sim

#endif
