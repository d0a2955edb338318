#ifndef HOLDFAST_CLI_RUN_WANTED_LOCK_HPP
#define HOLDFAST_CLI_RUN_WANTED_LOCK_HPP

#include "cli/options.hpp"

#include <holdfast/client.hpp>

#include <variant>

namespace holdfast::cli {

/// What a command runs under.
using wanted_lock = std::variant<lock, fair_lock, read_lock, write_lock, semaphore>;

/// A lock of the kind that the options ask for.
[[nodiscard]] wanted_lock make_wanted_lock(
    holdfast::client const& client,
    run_options const& options
);

}  // namespace holdfast::cli

#endif
