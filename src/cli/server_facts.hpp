#ifndef HOLDFAST_CLI_SERVER_FACTS_HPP
#define HOLDFAST_CLI_SERVER_FACTS_HPP

#include "cli/server_session.hpp"
#include "cli/server_texts.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace holdfast::cli {

/// What a server told of itself. What the user may not ask for is empty, and the refusal tells why.
struct server_facts {
    greeting hello = {};

    /// INFO.
    fields info = {};
    std::string info_refusal = {};
    /// CONFIG GET.
    fields settings = {};
    std::string settings_refusal = {};
    /// CLUSTER INFO of a node of a cluster.
    fields cluster = {};

    /// The middle one of several round trips.
    std::optional<std::chrono::nanoseconds> round_trip = {};
    /// How far the server's time is ahead of this machine's. It is known to half a round trip.
    std::optional<std::chrono::microseconds> clock_ahead = {};
    /// What the server said to a script that does nothing; empty if it ran.
    std::string script_refusal = {};
};

}  // namespace holdfast::cli

#endif
