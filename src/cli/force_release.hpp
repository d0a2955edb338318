#ifndef HOLDFAST_CLI_FORCE_RELEASE_HPP
#define HOLDFAST_CLI_FORCE_RELEASE_HPP

#include "cli/context.hpp"
#include "cli/options.hpp"

#include <boost/asio/awaitable.hpp>

namespace holdfast::cli {

/// `holdfast force-release`: takes a lock from its holder, who learns of it at its next renewal.
/// Returns the exit code: `failure` if nobody had the lock.
[[nodiscard]] boost::asio::awaitable<int> force_release(
    context const& on,
    name_options const& options
);

}  // namespace holdfast::cli

#endif
