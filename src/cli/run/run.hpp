#ifndef HOLDFAST_CLI_RUN_RUN_HPP
#define HOLDFAST_CLI_RUN_RUN_HPP

#include "cli/context.hpp"
#include "cli/options.hpp"
#include "cli/run/guard.hpp"
#include "cli/run/signals.hpp"

#include <holdfast/lease.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>

namespace holdfast::cli {

namespace asio = boost::asio;

/// How this program should end.
struct run_ending {
    int code = 0;
    /// By this signal, if it is not zero: a shell stops a script for a SIGINT only if the program
    /// has died of it.
    int signal = 0;
};

/// Acquires the lock, runs the command, and gives the lock back when nothing is left that the
/// command has started. See the page "The command line".
[[nodiscard]] asio::awaitable<run_ending> run(
    context const& on,
    run_options const& options,
    inherited_signals const& signals,
    guard const& by
);

/// What a command has between TERM and KILL after its lock was lost: what the options say, else
/// until the lease ends, but 1 to 5 seconds.
[[nodiscard]] std::chrono::nanoseconds grace_of(
    run_options const& options,
    std::chrono::nanoseconds lease_remaining
) noexcept;

/// For a wait or a command that a signal has ended.
[[nodiscard]] run_ending ended_by(int signal) noexcept;

}  // namespace holdfast::cli

#endif
