#ifndef HOLDFAST_PROTOCOL_MULTI_LOCK_HPP
#define HOLDFAST_PROTOCOL_MULTI_LOCK_HPP

#include "protocol/call.hpp"
#include "protocol/primitive.hpp"
#include "protocol/reply.hpp"
#include "protocol/target.hpp"

#include <cstddef>
#include <span>

namespace holdfast::detail {

/// Whether one script can take both, or neither: both are plain locks.
[[nodiscard]] bool may_be_taken_together(target const& a, target const& b) noexcept;

/// One request for several attempts that are equal in all but the lock and the holder id. All are
/// granted, or none. It takes no place in a queue and makes no preflight, and is not for learned
/// leases.
[[nodiscard]] call acquire_together(std::span<primitive::attempt const> all);

/// What it said of the attempt of this number, as the reply to that alone.
[[nodiscard]] script_reply reply_to(script_reply const& together, std::size_t number);

}  // namespace holdfast::detail

#endif
