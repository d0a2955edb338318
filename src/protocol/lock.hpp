#ifndef HOLDFAST_PROTOCOL_LOCK_HPP
#define HOLDFAST_PROTOCOL_LOCK_HPP

#include "protocol/primitive.hpp"
#include "protocol/target.hpp"

#include <string_view>

namespace holdfast::detail {

/// The protocol of a lock, on the keys and channels of Redisson's RLock and RFencedLock.
[[nodiscard]] primitive const& lock_protocol() noexcept;

/// The lock of the name `prefix + name`; an invalid target if the name is not allowed.
[[nodiscard]] target make_lock_target(std::string_view prefix, std::string_view name);

}  // namespace holdfast::detail

#endif
