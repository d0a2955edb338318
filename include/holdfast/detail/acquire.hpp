#ifndef HOLDFAST_DETAIL_ACQUIRE_HPP
#define HOLDFAST_DETAIL_ACQUIRE_HPP

#include <holdfast/detail/client_operations.hpp>
#include <holdfast/detail/completion_handler.hpp>
#include <holdfast/detail/patience.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <memory>
#include <utility>

namespace holdfast::detail {

using acquire_handler = completion_handler<error_code, lease>;

/// What is to be acquired, and how. A lock-like type fills in the first two members; the operation
/// fills in the others.
struct acquire_request {
    std::shared_ptr<client_state> client;
    std::shared_ptr<target const> key;
    acquire_options options = {};
    patience how_long = patience::unlimited;
    std::chrono::nanoseconds limit{0};
};

/// `holder` is where the lease will be renewed.
HOLDFAST_EXPORT void start_acquire(
    acquire_request request,
    asio::any_io_executor holder,
    acquire_handler handler
);

[[nodiscard]] inline asio::any_io_executor const& executor_of(acquire_request const& request
) noexcept {
    return executor_of(*request.client);
}

/// `Request` has an `executor_of` and a `start_acquire`.
template <class Request>
struct acquire_initiation {
    Request request;

    using executor_type = asio::any_io_executor;
    [[nodiscard]] executor_type get_executor() const noexcept { return executor_of(request); }

    template <class Handler>
    void operator()(Handler&& handler) && {
        auto holder = io_executor_of(handler);
        if (!holder) {
            holder = executor_of(request);
        }
        start_acquire(std::move(request), std::move(holder), std::forward<Handler>(handler));
    }
};

}  // namespace holdfast::detail

#endif
