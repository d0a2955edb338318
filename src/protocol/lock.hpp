#ifndef HOLDFAST_PROTOCOL_LOCK_HPP
#define HOLDFAST_PROTOCOL_LOCK_HPP

#include "protocol/primitive.hpp"
#include "protocol/target.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::detail {

/// The protocol of a lock, on the keys and channels of Redisson's RLock and RFencedLock.
[[nodiscard]] primitive const& lock_protocol() noexcept;

/// The lock of the name `prefix + name`; an invalid target if the name is not allowed.
[[nodiscard]] target make_lock_target(std::string_view prefix, std::string_view name);

/// What `inspect` found.
struct lock_reading {
    enum class kind : std::uint8_t { free, held, corrupt };
    kind what = kind::corrupt;
    /// None: the key has no expiry.
    std::optional<std::chrono::milliseconds> remaining;
    std::string holder;
    std::uint64_t hold_count = 0;
    std::uint64_t last_token = 0;
    /// Clients in the queue.
    std::uint64_t waiting = 0;
};

[[nodiscard]] call inspect_lock(target const& on, std::chrono::nanoseconds timeout, bool hand_over);
[[nodiscard]] lock_reading read_inspect_lock(script_reply const& reply);

/// What `force_release` did.
struct force_release_reply {
    enum class kind : std::uint8_t { was_free, freed, corrupt };
    kind what = kind::corrupt;
    /// The notification went out to those who wait.
    bool notified = true;
};

[[nodiscard]] call force_release_lock(target const& on, std::chrono::nanoseconds timeout);
[[nodiscard]] force_release_reply read_force_release_lock(script_reply const& reply);

}  // namespace holdfast::detail

#endif
