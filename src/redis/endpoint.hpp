#ifndef HOLDFAST_REDIS_ENDPOINT_HPP
#define HOLDFAST_REDIS_ENDPOINT_HPP

#include <holdfast/config.hpp>

#include <boost/asio/ssl/context.hpp>
#include <boost/redis/config.hpp>

#include <string>

namespace holdfast::detail {

/// How Boost.Redis is to reach the server. It neither logs in nor reconnects on its own: see
/// `supervisor`.
[[nodiscard]] boost::redis::config make_endpoint(config const& settings);

/// TLS 1.2 or newer, certificate and host name verified, unless the user opted out.
/// @throws boost::system::system_error if a file cannot be read, or certificate and key do not
/// match.
[[nodiscard]] boost::asio::ssl::context make_tls_context(config const& settings);

/// The server's address for the log: never a password.
[[nodiscard]] std::string describe_endpoint(config const& settings);

}  // namespace holdfast::detail

#endif
