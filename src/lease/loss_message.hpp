#ifndef HOLDFAST_LEASE_LOSS_MESSAGE_HPP
#define HOLDFAST_LEASE_LOSS_MESSAGE_HPP

#include "protocol/target.hpp"
#include "runtime/client_context.hpp"

#include <holdfast/fencing_token.hpp>
#include <holdfast/lease_state.hpp>

#include <memory>
#include <string>

namespace holdfast::detail {

/// What the log says of a lease that is lost.
[[nodiscard]] std::string loss_message(target const& on, loss_reason reason);

/// From any thread, without a mutex: counts the loss, and tells the observer and the log.
void report_loss(
    std::shared_ptr<client_context> const& client,
    std::shared_ptr<target const> on,
    fencing_token token,
    loss_reason reason
);

}  // namespace holdfast::detail

#endif
