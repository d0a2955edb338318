#ifndef HOLDFAST_CORE_KEY_NAMES_HPP
#define HOLDFAST_CORE_KEY_NAMES_HPP

#include <string>
#include <string_view>

namespace holdfast::detail {

/// The keys and the channel of one lock, as Redisson's RLock and RFencedLock name them.
struct key_names {
    /// Also the hash that holds the lock. Empty if the name is not allowed.
    std::string lock;
    std::string counter;
    std::string channel;

    [[nodiscard]] bool valid() const noexcept { return !lock.empty(); }
};

/// The names for `prefix + name`; those of an invalid name are empty.
[[nodiscard]] key_names make_key_names(std::string_view prefix, std::string_view name);

/// The name as it may stand in a log: printable, and not too long.
[[nodiscard]] std::string escaped(std::string_view name, std::size_t longest = 64);

}  // namespace holdfast::detail

#endif
