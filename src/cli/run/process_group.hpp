#ifndef HOLDFAST_CLI_RUN_PROCESS_GROUP_HPP
#define HOLDFAST_CLI_RUN_PROCESS_GROUP_HPP

#include <sys/types.h>

#include <string_view>

namespace holdfast::cli {

/// What /proc/PID/stat says of a process.
struct process_stat {
    char state = '?';
    pid_t group = 0;
};

/// Empty state if the text is none of such a file. The program's name may contain anything.
[[nodiscard]] process_stat read_process_stat(std::string_view text) noexcept;

/// Whether a process of the group lives. One that has ended and was not waited for does not.
[[nodiscard]] bool is_alive(pid_t group);

}  // namespace holdfast::cli

#endif
