#ifndef HOLDFAST_CLI_OPTIONS_HPP
#define HOLDFAST_CLI_OPTIONS_HPP

#include "cli/style.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::cli {

/// What every command understands.
struct global_options {
    /// Empty means that of the environment, else a server on this machine.
    std::string url;
    /// Put before every name.
    std::string key_prefix;
    bool json = false;
    colour_mode colour = colour_mode::automatic;
    /// Log messages of the library go to the standard error.
    bool verbose = false;
};

/// What a name stands for.
enum class lock_kind {
    automatic,
    lock,
    fair_lock,
    read_write_lock,
    semaphore,
    latch,
    counting_semaphore
};

struct run_options {
    std::string name;
    std::chrono::milliseconds lease{30'000};
    /// How long another holder is waited for. None means as long as it takes.
    std::optional<std::chrono::milliseconds> wait;
    bool no_wait = false;
    /// A read/write lock, for reading or for writing.
    bool shared = false;
    bool exclusive = false;
    bool fair = false;
    /// Zero means no semaphore.
    std::int64_t permits = 0;
    /// How many permits there are. Zero means that somebody has said so.
    std::int64_t limit = 0;
    /// How long the lock may be held. Zero means no limit.
    std::chrono::milliseconds max_hold{0};
    /// Between TERM and KILL. None means until the lease ends, but 1 to 5 seconds.
    std::optional<std::chrono::milliseconds> kill_after;
    /// Processes of another session are not the command's: they may live on.
    bool leave_daemons = false;
    /// No message about a lock that another holder has.
    bool quiet = false;
    std::vector<std::string> command;
};

/// `inspect` and `force-release`.
struct name_options {
    std::string name;
    lock_kind kind = lock_kind::automatic;
};

}  // namespace holdfast::cli

#endif
