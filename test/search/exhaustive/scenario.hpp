#ifndef HOLDFAST_EXHAUSTIVE_SCENARIO_HPP
#define HOLDFAST_EXHAUSTIVE_SCENARIO_HPP

#include "exhaustive/search.hpp"
#include "simulation/sometimes.hpp"
#include "simulation/user.hpp"

#include <holdfast/options.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::exhaustive {

using sim::nanos;
using namespace std::chrono_literals;

/// One acquisition, and what is done with the lease.
struct use {
    nanos begins{0};
    sim::request::kind how = sim::request::kind::acquire;
    nanos limit{0};
    nanos holds{5ms};
    acquire_options options{};
    /// The lease is dropped, not released.
    bool drops = false;
    /// It begins up to so many milliseconds later: each is tried.
    std::size_t later = 0;
};

/// What may go wrong, at any point at which it makes a difference.
struct fault {
    enum class kind {
        cancelled_at_once,   // the acquisition that the first user waits for
        cancelled_in_total,  // the same
        commands_break,
        notifications_break,
        notifications_swallowed,  // and nobody is told: what the library cannot survive
        commands_fail,  // at the client's end only: what was written may be executed, or come late
        request_lost,
        answer_lost,
        cut_off,  // for a time-out and a half; what was written comes after that
        server_restarts,
        scripts_forgotten,
        script_refused,
        key_removed,
        killed,
        thread_blocked,  // the first user's, for a lease and a half
    };

    kind what;
    /// The client that it happens to.
    std::size_t client = 0;
};

/// A few operations of a few clients on one lock. Messages take a millisecond or are slow.
struct scenario {
    std::string_view name;
    /// For each client its users, for each of these what it does.
    std::vector<std::vector<std::vector<use>>> clients{};
    std::vector<fault> faults{};
    bound limit{1, 0};
    bound limit_in_full{2, 1};
    std::chrono::milliseconds lease{3'000};
    std::chrono::milliseconds fallback_poll_interval{5'000};
    /// How many times longer a slow message takes.
    int slow = 20;
    /// The server knows the scripts.
    bool scripts_known = true;
    /// A schedule that breaks a promise is run again, and printed.
    bool traced = true;
    /// What has to happen in some of the schedules, or the scenario is not what it says.
    std::vector<sim::sometimes> must_reach{};
};

struct findings {
    std::uint64_t schedules = 0;
    std::uint64_t points = 0;
    std::uint64_t steps = 0;
    std::size_t deepest = 0;
    sim::sometimes_counts reached{};
    /// Empty if all schedules kept all promises; then the bound is exhausted.
    std::string violation;
};

/// Runs every schedule of the scenario within the bound, up to the first that breaks a promise.
[[nodiscard]] findings explore(scenario const& of, bound limit);

}  // namespace holdfast::exhaustive

#endif
