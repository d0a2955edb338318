#ifndef HOLDFAST_PROTOCOL_READ_WRITE_LOCK_HPP
#define HOLDFAST_PROTOCOL_READ_WRITE_LOCK_HPP

#include "protocol/primitive.hpp"
#include "protocol/target.hpp"

#include <string_view>

namespace holdfast::detail {

/// @{
/// The protocols of the two sides of a read/write lock, on the keys and the channel of Redisson's
/// RReadWriteLock. On each side a client has one place in the server's queue.
[[nodiscard]] primitive const& read_lock_protocol() noexcept;
[[nodiscard]] primitive const& write_lock_protocol() noexcept;
/// @}

/// @{
/// A side of the read/write lock of the name `prefix + name`; an invalid target if the name is not
/// allowed.
[[nodiscard]] target make_read_lock_target(std::string_view prefix, std::string_view name);
[[nodiscard]] target make_write_lock_target(std::string_view prefix, std::string_view name);
/// @}

}  // namespace holdfast::detail

#endif
