#ifndef HOLDFAST_REDIS_BOOST_REDIS_PORT_HPP
#define HOLDFAST_REDIS_BOOST_REDIS_PORT_HPP

#include "ops/redis_port.hpp"

#include <holdfast/config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace holdfast::detail {

struct counters;

/// The port on two connections of Boost.Redis, a strand for both.
[[nodiscard]] std::unique_ptr<redis_port> make_boost_redis_port(
    asio::any_io_executor strand,
    std::shared_ptr<config const> settings,
    std::shared_ptr<counters> count
);

}  // namespace holdfast::detail

#endif
