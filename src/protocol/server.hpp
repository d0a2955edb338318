#ifndef HOLDFAST_PROTOCOL_SERVER_HPP
#define HOLDFAST_PROTOCOL_SERVER_HPP

#include "protocol/call.hpp"
#include "protocol/reply.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::detail {

/// Where clients write down since when they have known a server: `holdfast_server` behind the
/// prefix.
[[nodiscard]] std::string server_key(std::string_view key_prefix);
/// The same for a node of a cluster: a key in this slot, if the prefix has no hash tag of its own.
[[nodiscard]] std::string server_key(std::string_view key_prefix, std::uint16_t slot);

/// Asks since when clients have known the server with this run id. A client that meets it first
/// writes that down, for 30 days after the last of them.
[[nodiscard]] call meet_server(
    std::string_view key,
    std::string_view run_id,
    std::chrono::nanoseconds timeout
);

struct meeting {
    /// It has been known for so long.
    std::chrono::milliseconds known_for{0};
    /// In microseconds.
    std::uint64_t server_time = 0;
};
/// Nothing if the reply is not what the script says.
[[nodiscard]] std::optional<meeting> read_meeting(script_reply const& reply) noexcept;

}  // namespace holdfast::detail

#endif
