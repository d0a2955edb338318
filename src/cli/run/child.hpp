#ifndef HOLDFAST_CLI_RUN_CHILD_HPP
#define HOLDFAST_CLI_RUN_CHILD_HPP

#include "cli/run/descriptors.hpp"
#include "cli/run/signals.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace holdfast::cli {

/// What this program was started with, taken before it opened or changed anything.
struct inherited {
    inherited_signals signals;
    inherited_descriptors descriptors;
};

struct child_options {
    /// The program, looked up in PATH, and its arguments.
    std::vector<std::string> command;
    /// `NAME=value`.
    std::vector<std::string> environment;
    /// The terminal that the child's group gets; none: -1.
    int terminal = -1;
};

/// A program that runs in a process group of its own. It gets TERM when this program ends without
/// it, however it ends.
///
/// Its process id, which is that of the group, is not given to another process before destruction:
/// the group can be signalled until then. The destructor does not end it.
class child {
public:
    /// @throws std::system_error  with the `errno` of execve(), or of what failed before.
    child(child_options const& options, inherited const& from);
    ~child();
    child(child const&) = delete;
    child& operator=(child const&) = delete;

    [[nodiscard]] pid_t group() const noexcept { return pid_; }
    void signal_group(int signal) const noexcept;

    /// Something that has happened to the child since the last look.
    struct change {
        /// The wait status, once it has ended.
        std::optional<int> ended;
        /// The signal that has stopped it; zero: none.
        int stopped_by = 0;
    };
    /// Looks, without waiting.
    [[nodiscard]] change look() const noexcept;

private:
    pid_t pid_ = -1;
};

}  // namespace holdfast::cli

#endif
