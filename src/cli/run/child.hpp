#ifndef HOLDFAST_CLI_RUN_CHILD_HPP
#define HOLDFAST_CLI_RUN_CHILD_HPP

#include "cli/run/signals.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace holdfast::cli {

struct child_options {
    /// The program, looked up in PATH, and its arguments.
    std::vector<std::string> command;
    /// `NAME=value`.
    std::vector<std::string> environment;
    /// Its group gets the terminal that controls this program.
    bool takes_terminal = false;
};

/// Starts a program in a process group of its own, with the signals as they were. Its process id is
/// that of the group. It gets KILL when the thread that called this ends.
/// @throws std::system_error  with the `errno` of execve(), or of what failed before.
[[nodiscard]] pid_t start_child(child_options const& options, inherited_signals const& signals);

}  // namespace holdfast::cli

#endif
