#ifndef HOLDFAST_PROTOCOL_HAND_OVER_MESSAGE_HPP
#define HOLDFAST_PROTOCOL_HAND_OVER_MESSAGE_HPP

#include <holdfast/fencing_token.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::detail {

struct target;

/// What a script tells one client, on the client's own channel. It is a fact, not a hint: whoever
/// may publish there may give locks away.
struct hand_over_message {
    enum class kind : std::uint8_t {
        /// The holder id has the lock.
        grant,
        /// The holder id is the first in the queue. If the new holder does not claim the lock, it
        /// is free when the window is over.
        next,
        /// Another client began to wait for the lock that the holder id has.
        wait,
        /// The holder id may not have the lock any more.
        look,
    };
    kind what = kind::look;
    std::string_view holder;
    /// Of a grant.
    fencing_token token;
    /// Of a grant: the server's time in microseconds.
    std::uint64_t server_time = 0;
    /// Of `grant` and `next`.
    std::chrono::milliseconds window{0};
    /// The key of the lock.
    std::string_view lock;
};

/// The message of this text, which has to live as long. Nothing if it is none.
[[nodiscard]] std::optional<hand_over_message> read_hand_over_message(std::string_view text);

/// The channel of a client.
[[nodiscard]] std::string channel_of_client(std::string_view client_id);
/// The same on a cluster, for one lock: it is in the lock's slot.
[[nodiscard]] std::string channel_of_client(std::string_view client_id, target const& on);

}  // namespace holdfast::detail

#endif
