#ifndef HOLDFAST_DETAIL_MULTI_OPERATIONS_HPP
#define HOLDFAST_DETAIL_MULTI_OPERATIONS_HPP

#include <holdfast/detail/completion_handler.hpp>
#include <holdfast/detail/lease_operations.hpp>
#include <holdfast/detail/patience.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/options.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <memory>

namespace holdfast::detail {

using multi_handler = completion_handler<error_code, multi_lease>;

/// The members of a multi-lock, and how all of them are to be acquired.
struct multi_request {
    std::shared_ptr<multi_members const> members;
    acquire_options options = {};
    patience how_long = patience::unlimited;
    std::chrono::nanoseconds limit{0};
};

/// Of the first member's client.
[[nodiscard]] HOLDFAST_EXPORT asio::any_io_executor executor_of(multi_request const& request
) noexcept;
/// `holder` is where the leases will be renewed.
HOLDFAST_EXPORT void start_acquire(
    multi_request request,
    asio::any_io_executor holder,
    multi_handler handler
);

// `held` is null for an empty lease.
[[nodiscard]] HOLDFAST_EXPORT asio::any_io_executor executor_of(lease_group const* held) noexcept;
HOLDFAST_EXPORT void start_renew_all(std::shared_ptr<lease_group> held, plain_handler handler);
HOLDFAST_EXPORT void start_release_all(std::shared_ptr<lease_group> held, plain_handler handler);
HOLDFAST_EXPORT void start_wait_any_lost(std::shared_ptr<lease_group> held, loss_handler handler);

}  // namespace holdfast::detail

#endif
