#ifndef HOLDFAST_DETAIL_LEASE_OPERATIONS_HPP
#define HOLDFAST_DETAIL_LEASE_OPERATIONS_HPP

#include <holdfast/detail/completion_handler.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/lease_state.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace holdfast::detail {

using plain_handler = completion_handler<error_code>;
using loss_handler = completion_handler<error_code, loss_reason>;

// `held` is null for an empty lease.
[[nodiscard]] HOLDFAST_EXPORT asio::any_io_executor executor_of(lease_share const* held) noexcept;
HOLDFAST_EXPORT void start_renew(std::shared_ptr<lease_share> held, plain_handler handler);
HOLDFAST_EXPORT void start_release(std::shared_ptr<lease_share> held, plain_handler handler);
HOLDFAST_EXPORT void start_wait_lost(std::shared_ptr<lease_share> held, loss_handler handler);

}  // namespace holdfast::detail

#endif
