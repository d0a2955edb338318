#ifndef HOLDFAST_TEST_SIMULATION_SCRIPT_COMMANDS_HPP
#define HOLDFAST_TEST_SIMULATION_SCRIPT_COMMANDS_HPP

#include "memory_server/value.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace holdfast::sim {

using memory::value;

/// What commands say of the library's scripts, and what their answers mean for each lock.
using command_words = std::vector<std::string_view>;

/// The commands of what was written at once: arrays of bulk strings. Nothing, if it is not that.
[[nodiscard]] std::optional<std::vector<command_words>> commands_in(std::string_view bytes);

/// The client that a holder id names.
[[nodiscard]] inline std::string_view client_of(std::string_view holder) {
    return holder.substr(0, holder.find(':'));
}

/// The name of the script of the library that a command runs; empty if it runs none.
[[nodiscard]] std::string_view script_of(command_words const& command);
/// What is counted has no leases.
[[nodiscard]] bool is_counted(std::string_view script);
/// The locks that it may give to somebody.
[[nodiscard]] command_words locks_given_by(command_words const& command, std::string_view script);

/// What a script did to one lock, as if it had been about that alone.
struct deed {
    /// Such as `lock.acquire`, and what it does, `acquire`.
    std::string_view script;
    std::string_view does;
    /// Empty for a renewal of the permits of several holders.
    std::string_view lock{};
    std::string_view holder{};
    value reply;
    /// It respects the queue.
    bool queues = false;
    /// A renewal that asks for more time, not for tokens alone.
    bool extends = false;
};
[[nodiscard]] std::vector<deed> deeds_of(
    command_words const& command,
    std::string_view script,
    value const& answer
);

}  // namespace holdfast::sim

#endif
