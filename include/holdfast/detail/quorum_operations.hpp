#ifndef HOLDFAST_DETAIL_QUORUM_OPERATIONS_HPP
#define HOLDFAST_DETAIL_QUORUM_OPERATIONS_HPP

#include <holdfast/detail/completion_handler.hpp>
#include <holdfast/detail/patience.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/options.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <memory>

namespace holdfast::detail {

using quorum_handler = completion_handler<error_code, quorum_lease>;

/// The nodes of a quorum, and how a majority of them is to be acquired.
struct quorum_request {
    std::shared_ptr<quorum_members const> members;
    acquire_options options = {};
    patience how_long = patience::unlimited;
    std::chrono::nanoseconds limit{0};
};

/// Of the first node's client.
[[nodiscard]] HOLDFAST_EXPORT asio::any_io_executor executor_of(quorum_request const& request
) noexcept;
/// `holder` is where the lease will be renewed.
HOLDFAST_EXPORT void start_acquire(
    quorum_request request,
    asio::any_io_executor holder,
    quorum_handler handler
);

}  // namespace holdfast::detail

#endif
