#ifndef HOLDFAST_PROTOCOL_ONE_SLOT_HPP
#define HOLDFAST_PROTOCOL_ONE_SLOT_HPP

#include "protocol/target.hpp"

#include <holdfast/config.hpp>

namespace holdfast::detail {

/// Whether all keys and channels of the target are in the slot of its lock. A brace that is not
/// closed, or an empty pair of them, may keep them apart.
[[nodiscard]] bool has_one_slot(target const& of) noexcept;

/// The target for a client with these settings: one that a Redis Cluster cannot keep in one slot is
/// not valid there.
[[nodiscard]] target allowed_by(config const& settings, target made);

}  // namespace holdfast::detail

#endif
