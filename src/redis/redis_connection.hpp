#ifndef HOLDFAST_REDIS_REDIS_CONNECTION_HPP
#define HOLDFAST_REDIS_REDIS_CONNECTION_HPP

// What the links speak through. A build that defines HOLDFAST_CONNECTION to the name of another
// header runs the same links over that header's connections.

#include <holdfast/config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>

#ifdef HOLDFAST_CONNECTION
#include HOLDFAST_CONNECTION
#else

#include "runtime/strand.hpp"

#include <boost/redis/connection.hpp>

namespace holdfast::detail {

using redis_connection = boost::redis::basic_connection<strand>;

}  // namespace holdfast::detail

#endif

namespace holdfast::detail {

class tls_trust;

/// For one epoch; not connected yet.
/// @throws boost::system::system_error if TLS cannot be set up.
[[nodiscard]] std::shared_ptr<redis_connection> make_redis_connection(
    boost::asio::any_io_executor const& executor,
    config const& settings,
    tls_trust& trust
);

}  // namespace holdfast::detail

#endif
