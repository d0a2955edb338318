#ifndef HOLDFAST_PROTOCOL_FAIR_LOCK_HPP
#define HOLDFAST_PROTOCOL_FAIR_LOCK_HPP

#include "protocol/primitive.hpp"
#include "protocol/target.hpp"

#include <string_view>

namespace holdfast::detail {

/// The protocol of a fair lock, on the keys and channels of Redisson's RFairLock. Each waiter has a
/// place of its own in the server's queue.
[[nodiscard]] primitive const& fair_lock_protocol() noexcept;

/// The fair lock of the name `prefix + name`; an invalid target if the name is not allowed.
[[nodiscard]] target make_fair_lock_target(std::string_view prefix, std::string_view name);

}  // namespace holdfast::detail

#endif
