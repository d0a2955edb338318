#ifndef HOLDFAST_REDIS_DEPLOYMENT_CLUSTER_HPP
#define HOLDFAST_REDIS_DEPLOYMENT_CLUSTER_HPP

#include "core/lease_terms.hpp"
#include "protocol/backend.hpp"

#include <holdfast/config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <memory>

namespace holdfast::detail {

struct counters;

/// The backend on a Redis Cluster: a server for each primary in use, which has two connections as
/// any has. It is connected to when a key of its slots is asked for first, and left when nothing
/// was under way and nobody listened for `idle_after`.
///
/// Replicas are asked for the slots where no primary is known, and for nothing else.
[[nodiscard]] std::unique_ptr<backend> make_cluster_that_idles(
    asio::any_io_executor strand,
    std::shared_ptr<config const> settings,
    std::shared_ptr<counters> count,
    nanos idle_after
);
/// The same, with a usual time.
[[nodiscard]] std::unique_ptr<backend> make_cluster(
    asio::any_io_executor strand,
    std::shared_ptr<config const> settings,
    std::shared_ptr<counters> count
);

}  // namespace holdfast::detail

#endif
