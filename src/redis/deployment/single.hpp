#ifndef HOLDFAST_REDIS_DEPLOYMENT_SINGLE_HPP
#define HOLDFAST_REDIS_DEPLOYMENT_SINGLE_HPP

#include "protocol/backend.hpp"

#include <holdfast/config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace holdfast::detail {

struct counters;

/// The backend on one server.
[[nodiscard]] std::unique_ptr<backend> make_single_server(
    asio::any_io_executor strand,
    std::shared_ptr<config const> settings,
    std::shared_ptr<counters> count
);

}  // namespace holdfast::detail

#endif
