#ifndef HOLDFAST_REDIS_DEPLOYMENT_SINGLE_HPP
#define HOLDFAST_REDIS_DEPLOYMENT_SINGLE_HPP

#include "protocol/backend.hpp"

#include <holdfast/config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace holdfast::detail {

struct counters;
struct server_context;

/// The backend on one server at a time. The context's source says which, and tells of a move;
/// without a source it is the one that the settings name.
[[nodiscard]] std::unique_ptr<backend> make_server_backend(server_context of);

/// The backend on the server that the settings name.
[[nodiscard]] std::unique_ptr<backend> make_single_server(
    asio::any_io_executor strand,
    std::shared_ptr<config const> settings,
    std::shared_ptr<counters> count
);

}  // namespace holdfast::detail

#endif
