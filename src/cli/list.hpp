#ifndef HOLDFAST_CLI_LIST_HPP
#define HOLDFAST_CLI_LIST_HPP

#include "cli/context.hpp"
#include "cli/list_report.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::cli {

struct listing {
    /// By name.
    std::vector<listed_lock> rows = {};
    /// What could not be found out, and why. The first error of a server.
    std::vector<std::string> remarks = {};
    error_code cause = {};
};

/// Looks for locks on each primary of a deployment with SCAN, and inspects each. It changes
/// nothing, and sees a lock that is there all the time; of others it may. `pattern`: of names
/// without `key_prefix`, as of Redis: `stock:*`.
[[nodiscard]] boost::asio::awaitable<listing> find_locks(
    config const& settings,
    std::string const& pattern
);

/// How long ago a token was taken, where it is the server's time in microseconds.
[[nodiscard]] std::optional<std::chrono::microseconds> age_of(
    std::uint64_t token,
    std::uint64_t server_time
) noexcept;

/// `holdfast list`: writes the locks to `with.out` and what could not be found out to `with.err`,
/// and returns the exit code. No lock at all is a success.
[[nodiscard]] boost::asio::awaitable<int> list(context const& with, std::string const& pattern);

}  // namespace holdfast::cli

#endif
