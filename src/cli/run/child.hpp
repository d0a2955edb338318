#ifndef HOLDFAST_CLI_RUN_CHILD_HPP
#define HOLDFAST_CLI_RUN_CHILD_HPP

#include "cli/run/signals.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace holdfast::cli {

/// Starts a program in a process group of its own, with the environment of this one and the signals
/// as they were. `command` is the program, looked up in PATH, and its arguments. The process id is
/// that of the group. The program gets KILL when the thread that called this ends.
/// @param takes_terminal  The group gets the terminal that controls this program.
/// @throws std::system_error  with the `errno` of execve(), or of what failed before.
[[nodiscard]] pid_t start_child(
    std::vector<std::string> const& command,
    bool takes_terminal,
    inherited_signals const& signals
);

}  // namespace holdfast::cli

#endif
