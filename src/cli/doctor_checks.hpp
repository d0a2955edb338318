#ifndef HOLDFAST_CLI_DOCTOR_CHECKS_HPP
#define HOLDFAST_CLI_DOCTOR_CHECKS_HPP

#include "cli/finding.hpp"
#include "cli/server_facts.hpp"

#include <holdfast/config.hpp>
#include <holdfast/error.hpp>

#include <string_view>
#include <vector>

// What the facts of a server mean for locks. Nothing here asks the server.
namespace holdfast::cli {

/// A server that could not be logged in to. `why` is what it said, or what became of the
/// connection.
[[nodiscard]] finding check_connection(error_code cause, std::string_view why);

/// Version, role, and whether it is the kind of server that the configuration says.
[[nodiscard]] std::vector<finding> check_identity(server_facts const& of, config const& settings);

/// Whether keys are removed before they expire, and whether there is memory for new ones.
[[nodiscard]] std::vector<finding> check_memory(server_facts const& of);

/// What is left of the locks after a crash, and whether the server refuses writes because it cannot
/// keep them.
[[nodiscard]] std::vector<finding> check_persistence(server_facts const& of);

/// Replicas that have to be there.
[[nodiscard]] std::vector<finding> check_replicas(server_facts const& of, config const& settings);

/// What closes connections: idle times, buffers, the number of clients.
[[nodiscard]] std::vector<finding> check_connections(
    server_facts const& of,
    config const& settings
);

/// Whether anybody may log in.
[[nodiscard]] std::vector<finding> check_access(server_facts const& of, config const& settings);

/// Clock, round trip and scripts.
[[nodiscard]] std::vector<finding> check_speed(server_facts const& of, config const& settings);

/// The state of a cluster, as one of its nodes sees it.
[[nodiscard]] std::vector<finding> check_cluster(server_facts const& of);

/// All of them, in the order in which they are shown.
[[nodiscard]] std::vector<finding> check_server(server_facts const& of, config const& settings);

}  // namespace holdfast::cli

#endif
