#ifndef HOLDFAST_PROTOCOL_SLOT_HPP
#define HOLDFAST_PROTOCOL_SLOT_HPP

#include "protocol/target.hpp"

#include <holdfast/config.hpp>

#include <cstdint>
#include <string_view>

namespace holdfast::detail {

/// How many slots the keys of a Redis Cluster are spread over.
inline constexpr std::uint16_t slot_count = 16'384;

/// The slot of a key or of a channel, from 0: CRC16 of its hash tag, or of all of it if it has
/// none.
[[nodiscard]] std::uint16_t slot_of(std::string_view key) noexcept;

/// Whether all keys and channels of the target are in the slot of its lock. A brace that is not
/// closed, or an empty pair of them, may keep them apart.
[[nodiscard]] bool has_one_slot(target const& of) noexcept;

/// The target for a client with these settings: one that a Redis Cluster cannot keep in one slot is
/// not valid there.
[[nodiscard]] target allowed_by(config const& settings, target made);

}  // namespace holdfast::detail

#endif
