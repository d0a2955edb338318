#ifndef HOLDFAST_PROTOCOL_SERVER_HPP
#define HOLDFAST_PROTOCOL_SERVER_HPP

#include "protocol/call.hpp"
#include "protocol/reply.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::detail {

/// Asks since when clients have known the server with this run id. A client that meets it first
/// writes that down under one key for the whole server: `holdfast_server`, behind the prefix.
[[nodiscard]] call meet_server(
    std::string_view key_prefix,
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
