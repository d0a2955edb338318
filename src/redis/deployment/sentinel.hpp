#ifndef HOLDFAST_REDIS_DEPLOYMENT_SENTINEL_HPP
#define HOLDFAST_REDIS_DEPLOYMENT_SENTINEL_HPP

#include "protocol/backend.hpp"

#include <holdfast/config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace holdfast::detail {

struct counters;

/// The backend on the server that Sentinels name as the primary.
[[nodiscard]] std::unique_ptr<backend> make_sentinel_deployment(
    asio::any_io_executor strand,
    std::shared_ptr<config const> settings,
    std::shared_ptr<counters> count
);

}  // namespace holdfast::detail

#endif
