#ifndef HOLDFAST_REDIS_ENDPOINT_HPP
#define HOLDFAST_REDIS_ENDPOINT_HPP

#include <holdfast/config.hpp>

#include <boost/redis/config.hpp>

#include <string>

namespace holdfast::detail {

/// How Boost.Redis is to reach the server. It neither logs in nor reconnects on its own: see
/// `supervisor`.
[[nodiscard]] boost::redis::config make_endpoint(config const& settings);

/// The server's address for the log: never a password. Of a primary that the Sentinels have not
/// named yet, its name.
[[nodiscard]] std::string describe_endpoint(config const& settings);

}  // namespace holdfast::detail

#endif
