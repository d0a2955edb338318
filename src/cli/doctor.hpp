#ifndef HOLDFAST_CLI_DOCTOR_HPP
#define HOLDFAST_CLI_DOCTOR_HPP

#include "cli/context.hpp"
#include "cli/finding.hpp"

#include <boost/asio/awaitable.hpp>

#include <vector>

namespace holdfast::cli {

struct doctor_options {
    /// Leaves out what is well. JSON has everything.
    bool quiet = false;
};

/// Examines the servers of a deployment, each primary by itself, and then a lock on them. What the
/// user may not ask for is said and not checked. Nothing stays behind but a token counter for a
/// day, if it may not be deleted.
[[nodiscard]] boost::asio::awaitable<std::vector<examination>> examine(config const& settings);

/// `holdfast doctor`: writes what was found to `with.out`, and returns the exit code, which is 0
/// unless there is a fault.
[[nodiscard]] boost::asio::awaitable<int> doctor(context const& with, doctor_options options);

}  // namespace holdfast::cli

#endif
