#ifndef HOLDFAST_CLI_EXIT_CODE_HPP
#define HOLDFAST_CLI_EXIT_CODE_HPP

#include <holdfast/error.hpp>

namespace holdfast::cli {

/// How the program ends where no child's exit code is passed on. The numbers are those of
/// sysexits.h and of shells; all are above what programs usually end with.
enum class exit_code : int {
    success = 0,
    /// A check found something: `doctor`.
    failure = 1,
    /// EX_USAGE: the command line or the environment is wrong.
    usage = 64,
    /// EX_DATAERR: the key holds something that is not a lock.
    not_a_lock = 65,
    /// EX_UNAVAILABLE: no server can be reached, or it refuses requests for the moment.
    unreachable = 69,
    /// EX_SOFTWARE: what should not happen.
    internal = 70,
    /// EX_OSERR: the system refuses what is needed to run a program.
    system = 71,
    /// The lock was lost while the command ran.
    lost = 73,
    /// EX_TEMPFAIL: another holder has the lock.
    busy = 75,
    /// EX_NOPERM: the server refuses the user, or what the user asks for.
    refused = 77,
    /// EX_CONFIG: the server cannot serve locks, or its certificate was not accepted.
    unsuitable = 78,
    /// As in shells: the command is there and cannot be run.
    not_executable = 126,
    /// As in shells: there is no such command.
    not_found = 127,
};

[[nodiscard]] constexpr int to_int(exit_code code) noexcept {
    return static_cast<int>(code);
}

/// For an operation that ended with this error.
[[nodiscard]] exit_code exit_code_of(error_code ec) noexcept;

/// Of a child that ended with this status, as waitpid() tells it: its own code, or 128 and the
/// number of the signal that killed it.
[[nodiscard]] int exit_code_of_child(int wait_status) noexcept;

/// Of a command that could not be run, by the errno of execve(), or of what failed before it.
[[nodiscard]] exit_code exit_code_of_exec(int error) noexcept;

}  // namespace holdfast::cli

#endif
