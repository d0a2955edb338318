#ifndef HOLDFAST_CLIENT_STATUS_HPP
#define HOLDFAST_CLIENT_STATUS_HPP

#include <holdfast/error.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/lease_clock.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast {

/// Whether a client is connected.
enum class connection_state : std::uint8_t {
    /// A connection is missing. The client tries to make it.
    connecting,
    /// `client::ready()` completes at once with success.
    connected,
    /// The client was shut down. It makes no connection any more.
    stopped,
};

/// The name of the enumerator, such as `connecting`; `unknown` for any other value.
///
/// @par Thread safety   Safe.
[[nodiscard]] HOLDFAST_EXPORT std::string_view to_string(connection_state state) noexcept;

/// What `client::status()` returns.
struct client_status {
    /// Whether the client is connected.
    connection_state state = connection_state::connecting;
    /// When this state began.
    lease_clock::time_point since{};
    /// Why a connection could last not be made, or why it ended. A connected client keeps the error
    /// of its last outage. Success if no attempt to connect has failed yet: a server that accepts
    /// the connection and stays silent fails it after twice `config::health_check_interval`.
    ///
    /// A server that refuses requests, for example because its memory is full, is connected. The
    /// operations and `config::log` report such a refusal.
    error_code last_error{};
    /// The same as a sentence for people, with the server's address. Never a password. Until the
    /// first attempt has ended, the sentence says so. Empty if the client has connected and
    /// `last_error` is success.
    std::string last_error_text{};
};

}  // namespace holdfast

#endif
