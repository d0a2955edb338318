#ifndef HOLDFAST_LEASE_LEASE_HANDLES_HPP
#define HOLDFAST_LEASE_LEASE_HANDLES_HPP

#include "core/lease_terms.hpp"
#include "runtime/pending_handler.hpp"

#include <holdfast/error.hpp>
#include <holdfast/lease_clock.hpp>
#include <holdfast/lease_state.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/system_executor.hpp>

#include <algorithm>
#include <utility>

// What the handles of all kinds of leases do in the same way.
namespace holdfast::detail {

/// The holder may act.
[[nodiscard]] constexpr bool is_valid(lease_state state) noexcept {
    return state == lease_state::held || state == lease_state::in_doubt;
}

/// The time until the deadline; never negative. The caller reads the deadline before this reads the
/// clock: a renewal in between must not make the time longer than it ever was.
[[nodiscard]] inline nanos time_left(time_point deadline) noexcept {
    return std::max<nanos>(deadline - lease_clock::now(), nanos{0});
}

/// The executor of a lease that has no client.
[[nodiscard]] inline asio::any_io_executor executor_without_client() noexcept {
    return asio::system_executor{};
}

/// Ends an operation on an empty lease.
template <class Handler, class... Results>
void refuse_empty(Handler handler, Results... results) {
    if (!handler.has_other) {
        // It only fulfils a promise, for which no thread need be started.
        std::move(handler.handler)(errc::not_held, std::move(results)...);
        return;
    }
    pending_handler<error_code, Results...> waiting{std::move(handler), executor_without_client()};
    waiting.complete(errc::not_held, std::move(results)...);
}

}  // namespace holdfast::detail

#endif
