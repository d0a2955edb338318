#ifndef HOLDFAST_PROTOCOL_TARGET_HPP
#define HOLDFAST_PROTOCOL_TARGET_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::detail {

class primitive;

/// What kind of lock a target is: two kinds of one name never meet.
enum class target_kind : std::uint8_t { lock };

/// What one lock is on the server: its kind, its keys and its channel. Wait queues, owners and
/// holds are keyed by it.
struct target {
    primitive const* speaks = nullptr;
    target_kind kind = target_kind::lock;
    /// The name with its prefix, which is the key of the hash that holds the lock. Empty if the
    /// name is not allowed.
    std::string lock;
    std::string counter;
    std::string channel;
    /// Of the name: it is looked up several times in each operation.
    std::size_t hash = 0;

    [[nodiscard]] bool valid() const noexcept { return !lock.empty(); }
};

/// Equal for the same lock, whichever object names it.
struct target_key {
    target_kind kind;
    std::string_view name;
    std::size_t hash;

    explicit target_key(target const& of) noexcept : kind{of.kind}, name{of.lock}, hash{of.hash} {}
    friend bool operator==(target_key const& a, target_key const& b) noexcept {
        return a.kind == b.kind && a.name == b.name;
    }
};

struct target_key_hash {
    std::size_t operator()(target_key const& of) const noexcept {
        return of.hash ^ static_cast<std::size_t>(of.kind);
    }
};

/// A name as it may stand in a log: printable, and not too long.
[[nodiscard]] std::string escaped(std::string_view name, std::size_t longest = 64);

}  // namespace holdfast::detail

#endif
