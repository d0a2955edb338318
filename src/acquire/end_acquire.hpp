#ifndef HOLDFAST_ACQUIRE_END_ACQUIRE_HPP
#define HOLDFAST_ACQUIRE_END_ACQUIRE_HPP

#include "lease/delivery.hpp"
#include "runtime/pending_handler.hpp"

#include <holdfast/detail/patience.hpp>
#include <holdfast/error.hpp>

#include <boost/assert.hpp>

#include <utility>

namespace holdfast::detail {

/// Completes an acquisition of a lease: that of a single lock, a multi-lock, a quorum lock or a
/// campaign. A program relies on success. So an operation that waits without a limit succeeds with
/// a valid lease only, and another one with a valid lease or, for "busy", an empty one. If the
/// process stood still after the grant until the lease was over, the lease is given back, and the
/// error is `lease_lost`; if the client was stopped meanwhile, it is `client_stopped`. `Scope` is
/// that of `pending_handler::complete_in()`: a user's lease has a `delivery`.
template <class Scope = delivery, class Lease>
void end_acquire(
    pending_handler<error_code, Lease>& handler,
    patience how_long,
    error_code ec,
    Lease granted
) {
    bool const empty = !granted;
    bool const right = ec || (empty ? how_long != patience::unlimited : granted.valid());
    BOOST_ASSERT_MSG(right || !empty, "acquire() has ended without an error and without a lease");
    if (right) {
        handler.template complete_in<Scope>(ec, std::move(granted));
    } else {
        bool const stopped = granted.loss() == loss_reason::client_stopped;
        handler.complete(stopped ? errc::client_stopped : errc::lease_lost, Lease{});
    }
}

}  // namespace holdfast::detail

#endif
