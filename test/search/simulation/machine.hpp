#ifndef HOLDFAST_TEST_SIMULATION_MACHINE_HPP
#define HOLDFAST_TEST_SIMULATION_MACHINE_HPP

#include "memory_server/redis_model.hpp"
#include "simulation/link.hpp"
#include "simulation/world.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

/// A server's data as those see them who have chosen one of its databases.
struct chosen_database : redis_model {
    int number = 0;

    bool erase(std::string_view key) { return redis_model::erase(key, number); }
    [[nodiscard]] std::vector<std::string> keys() const { return redis_model::keys(number); }
    [[nodiscard]] auto lock_keys() const { return redis_model::lock_keys(number); }
    [[nodiscard]] bool exists(std::string_view key) const {
        return redis_model::exists(key, number);
    }
    [[nodiscard]] auto type(std::string_view key) const { return redis_model::type(key, number); }
    [[nodiscard]] auto pttl(std::string_view key) const { return redis_model::pttl(key, number); }
    [[nodiscard]] auto get(std::string_view key) const { return redis_model::get(key, number); }
    [[nodiscard]] auto hgetall(std::string_view key) const {
        return redis_model::hgetall(key, number);
    }
    /// A connection whose commands are about it, whatever is refused.
    session_id connect_there() {
        auto const refused = current_refusal();
        set_refusal(refusal::none);
        auto const made = connect([](value) {});
        execute(made, {"SELECT", std::to_string(number)});
        set_refusal(refused);
        return made;
    }
};

/// One process that clients connect to: a server of locks or a Sentinel, with its address, its data
/// and its clock.
struct machine {
    std::uint32_t number = 0;
    std::string host;
    std::uint16_t port = 0;
    bool is_sentinel = false;
    /// A primary of a cluster, which all know of or will.
    bool is_member = false;
    chosen_database data{};
    /// For what comes out of nowhere.
    redis_model::session_id ghost = data.connect_there();
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
