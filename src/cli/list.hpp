#ifndef HOLDFAST_CLI_LIST_HPP
#define HOLDFAST_CLI_LIST_HPP

#include "cli/context.hpp"
#include "cli/lock_row.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::cli {

struct list_options {
    /// Of names without `key_prefix`, as of Redis: `stock:*`.
    std::string pattern = "*";
    /// Also numbers of which nothing says what they are. A latch or a counting semaphore is a
    /// number on the server, and is known for one while somebody waits for it or changes it.
    bool numbers = false;
};

struct listing {
    /// By name.
    std::vector<lock_row> rows = {};
    /// What could not be found out, and why. The first error of a server.
    std::vector<std::string> remarks = {};
    error_code cause = {};
};

/// Looks for locks on each primary of a deployment with SCAN, and inspects each. It changes
/// nothing, and sees a lock that is there all the time; of others it may.
[[nodiscard]] boost::asio::awaitable<listing> find_locks(
    config const& settings,
    list_options const& options
);

/// How long ago a token was taken, where it is the server's time in microseconds.
[[nodiscard]] std::optional<std::chrono::microseconds> age_of(
    std::uint64_t token,
    std::uint64_t server_time
) noexcept;

/// `holdfast list`: writes the locks to `with.out` and what could not be found out to `with.err`,
/// and returns the exit code. No lock at all is a success.
[[nodiscard]] boost::asio::awaitable<int> list(context const& with, list_options const& options);

}  // namespace holdfast::cli

#endif
