#include "protocol/server.hpp"

#include "protocol/derived_keys.hpp"
#include "protocol/scripts.hpp"
#include "protocol/slot.hpp"

#include <string>

namespace holdfast::detail {

std::string server_key(std::string_view key_prefix) {
    return std::string{key_prefix}.append(server_word);
}

std::string server_key(std::string_view key_prefix, std::uint16_t slot) {
    return server_key(key_prefix) + ":{" + std::to_string(tag_of_slot(slot)) + '}';
}

call meet_server(std::string_view key, std::string_view run_id, std::chrono::nanoseconds timeout) {
    call sent{scripts::server_meet, timeout};
    sent.key(key).arg(run_id);
    return sent;
}

std::optional<meeting> read_meeting(script_reply const& reply) noexcept {
    auto const known_for = reply.integer(0, -1);
    auto const time = reply.integer(1, -1);
    if (known_for < 0 || time <= 0) {
        return std::nullopt;
    }
    return meeting{std::chrono::milliseconds{known_for}, static_cast<std::uint64_t>(time)};
}

}  // namespace holdfast::detail
