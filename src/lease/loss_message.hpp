#ifndef HOLDFAST_LEASE_LOSS_MESSAGE_HPP
#define HOLDFAST_LEASE_LOSS_MESSAGE_HPP

#include "protocol/target.hpp"

#include <holdfast/lease_state.hpp>

#include <string>

namespace holdfast::detail {

/// What the log says of a lease that is lost.
[[nodiscard]] std::string loss_message(target const& on, loss_reason reason);

}  // namespace holdfast::detail

#endif
