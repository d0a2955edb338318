#ifndef HOLDFAST_CLI_HOLDER_CONNECTION_HPP
#define HOLDFAST_CLI_HOLDER_CONNECTION_HPP

#include "cli/context.hpp"
#include "cli/server_session.hpp"

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::cli {

namespace asio = boost::asio;

/// Where a holder is.
struct holder_connection {
    /// The name of its client, without the client's id.
    std::string client_name;
    /// Address and port, or the path of a socket.
    std::string address;
};

/// Where clients are, by their ids.
using connections_by_client = std::map<std::string, holder_connection, std::less<>>;

/// The first connection of each client in the text that CLIENT LIST gives: it is called
/// `<client_name>:<client id>`.
[[nodiscard]] connections_by_client connections_in(std::string_view client_list);

/// `<client id>` of `<client id>:<number>`; empty if it is something else.
[[nodiscard]] std::string_view client_id_of(std::string_view holder) noexcept;

/// Asks a server with CLIENT LIST. `refusal`: what it says if the user may not ask.
///
/// @throws boost::system::system_error if the connection ends.
[[nodiscard]] asio::awaitable<connections_by_client> ask_for_connections(
    server_session& server,
    std::string& refusal
);

/// Asks the servers for the connections of a holder. Nothing if they have none of it, or if the
/// user may not ask.
[[nodiscard]] asio::awaitable<std::optional<holder_connection>> connection_of(
    context const& on,
    std::string_view holder
);

}  // namespace holdfast::cli

#endif
