#ifndef HOLDFAST_CLI_CONTEXT_HPP
#define HOLDFAST_CLI_CONTEXT_HPP

#include "cli/style.hpp"

#include <holdfast/config.hpp>

#include <ostream>

namespace holdfast::cli {

/// What every command works with. It outlives the command.
struct context {
    /// Where the server is.
    holdfast::config config;
    /// Results are JSON: one value a line.
    bool json = false;
    /// Of `out`.
    style colours;
    /// Results.
    std::ostream& out;
    /// Messages for people.
    std::ostream& err;
};

}  // namespace holdfast::cli

#endif
