#ifndef HOLDFAST_ACQUIRE_START_DRIVER_HPP
#define HOLDFAST_ACQUIRE_START_DRIVER_HPP

#include "runtime/client_context.hpp"
#include "runtime/pending_handler.hpp"

#include <holdfast/error.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <utility>

namespace holdfast::detail {

/// Starts an acquisition of several parts on the strand of the client that leads, in the initiating
/// function. It ends at once if `wrong` says why it cannot be; `lead` may be null only then.
/// `holder` is where its leases are renewed.
template <class Driver, class Lease>
void start_driver(
    std::shared_ptr<client_context> lead,
    typename Driver::request what,
    error_code wrong,
    asio::any_io_executor holder,
    pending_handler<error_code, Lease> waiting
) {
    if (wrong) {
        waiting.complete(wrong, Lease{});
        return;
    }
    auto const op = std::make_shared<Driver>(
        lead,
        std::move(what),
        lead->guard(std::move(holder)),
        std::move(waiting)
    );
    op->accept_cancellation();
    lead->enter_strand([op] { op->start(); });
}

}  // namespace holdfast::detail

#endif
