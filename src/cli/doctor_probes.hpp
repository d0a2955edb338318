#ifndef HOLDFAST_CLI_DOCTOR_PROBES_HPP
#define HOLDFAST_CLI_DOCTOR_PROBES_HPP

#include "cli/finding.hpp"
#include "cli/primaries.hpp"
#include "cli/server_facts.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

// What `doctor` asks a server. Each throws `boost::system::system_error` if the connection ends.
namespace holdfast::cli {

[[nodiscard]] boost::asio::awaitable<server_facts> gather_facts(server_session& from);

/// Tries what a client needs on the keys of a name that nobody uses, and leaves nothing behind.
/// `name` has its prefix, and the server has its slot.
[[nodiscard]] boost::asio::awaitable<std::vector<finding>> try_rights(
    server_session& with,
    std::string name
);

/// A name for tries that nobody uses, without its prefix; on a cluster the server of this number
/// has its slot.
[[nodiscard]] std::string name_for_tries(primaries const& all, primary const& on);

}  // namespace holdfast::cli

#endif
