#ifndef HOLDFAST_CLI_HAND_OVER_TRIAL_HPP
#define HOLDFAST_CLI_HAND_OVER_TRIAL_HPP

#include "cli/finding.hpp"

#include <holdfast/config.hpp>
#include <holdfast/error.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace holdfast::cli {

/// What became of a lock between two clients.
struct hand_over_trial {
    /// From the call of `release` to the grant at the other client: the middle one of several.
    std::optional<std::chrono::nanoseconds> took = {};
    /// Why nothing was measured.
    error_code cause = {};
    /// What was tried then.
    std::string step = {};
    /// What the clients wrote to their logs.
    std::string remarks = {};
};

/// Has two clients of these settings hand a lock of this name to each other, in turn. The lock is
/// free afterwards; its token counter expires in a day.
[[nodiscard]] boost::asio::awaitable<hand_over_trial> try_hand_over(
    config const& settings,
    std::string name
);

[[nodiscard]] finding check_hand_over(
    hand_over_trial const& tried,
    std::optional<std::chrono::nanoseconds> round_trip
);

}  // namespace holdfast::cli

#endif
