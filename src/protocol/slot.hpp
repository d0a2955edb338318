#ifndef HOLDFAST_PROTOCOL_SLOT_HPP
#define HOLDFAST_PROTOCOL_SLOT_HPP

#include <cstdint>
#include <string_view>

namespace holdfast::detail {

/// How many slots the keys of a Redis Cluster are spread over.
inline constexpr std::uint16_t slot_count = 16'384;

/// The slot of a key or of a channel, from 0: CRC16 of its hash tag, or of all of it if it has
/// none.
[[nodiscard]] std::uint16_t slot_of(std::string_view key) noexcept;

/// A number whose digits, as a hash tag, are in that slot: the least one. All have six digits at
/// most.
[[nodiscard]] std::uint32_t tag_of_slot(std::uint16_t slot);

}  // namespace holdfast::detail

#endif
