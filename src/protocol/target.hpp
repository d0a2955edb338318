#ifndef HOLDFAST_PROTOCOL_TARGET_HPP
#define HOLDFAST_PROTOCOL_TARGET_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::detail {

class primitive;

/// What kind of lock a target is: two kinds of one name never meet.
enum class target_kind : std::uint8_t {
    lock,
    fair_lock,
    read_lock,
    write_lock,
    semaphore,
    counting_semaphore,
    latch,
    quorum_lock,
};

/// What one lock is on the server: its kind, its keys and its channels. Wait queues, owners and
/// holds are keyed by it.
struct target {
    /// Null: a latch or a counting semaphore, which give no leases.
    primitive const* speaks = nullptr;
    /// The name with its prefix, which is the key of the hash that holds the lock. Empty if the
    /// name is not allowed.
    std::string lock;
    /// Of the name: it is looked up several times in each operation.
    std::uint32_t hash = 0;
    /// Of a semaphore: how many a grant takes. Those who want so many wait in a queue of their own.
    /// Zero: so many cannot be had.
    std::uint32_t permits = 1;
    /// Of a semaphore: how many permits its user says there are. It belongs to each waiter: those
    /// who say different numbers wait together. Zero: the user does not say it.
    std::int64_t limit = 0;
    static constexpr std::int64_t wrong_limit = -1;
    target_kind kind = target_kind::lock;
    /// Of all its keys, on a cluster.
    std::uint16_t slot = 0;
    /// Of a latch: its channel has the name in braces also if the name has some.
    bool braced_channel = false;

    [[nodiscard]] bool valid() const noexcept { return !lock.empty(); }
    [[nodiscard]] std::string counter() const { return derived(0); }
    /// Of a latch or a counting semaphore: what the marks of executed requests begin with.
    [[nodiscard]] std::string done() const { return derived(0); }
    /// Where a release is published.
    [[nodiscard]] std::string channel() const;
    /// The key of those that wait, in order.
    [[nodiscard]] std::string queue() const { return derived(2); }
    /// What else belongs to the queue. Of a lock, a channel: whoever listens to the lock's channel
    /// and queues listens to this one, too. Of a fair lock, a key: the deadlines of the waiters. Of
    /// what keeps the places of its waiters, the channel on which it is said whose turn it is.
    [[nodiscard]] std::string waiters() const { return derived(3); }

    using key_beginnings = std::array<std::string_view, 4>;
    /// Each lease keeps a target, so what can be made of the name is made when a request needs it.
    key_beginnings const* beginnings = nullptr;

private:
    [[nodiscard]] std::string derived(std::size_t which) const;
};

/// The target of the name `prefix + name`, whose other keys and channels begin so. Invalid if it is
/// empty or too long. See `allowed_by` for what else a name must not be.
[[nodiscard]] target make_target(
    primitive const* speaks,
    target_kind kind,
    std::string_view prefix,
    std::string_view name,
    target::key_beginnings const& beginnings
);
/// It would be gone before the target.
target
make_target(primitive const*, target_kind, std::string_view, std::string_view, target::key_beginnings const&&) =
    delete;

/// Whether one script may have the keys of both, if one server has them. See
/// `client_context::may_share_a_call`.
[[nodiscard]] bool may_share_a_call(target const& a, target const& b) noexcept;

/// Of a name with its prefix.
[[nodiscard]] std::uint32_t hash_of(std::string_view name) noexcept;

/// Equal for the same lock, whichever object names it.
struct target_key {
    target_kind kind;
    std::string_view name;
    std::uint32_t hash;
    std::uint32_t permits;

    explicit target_key(target const& of) noexcept : target_key{of, of.kind} {}
    /// Of a name with its prefix. `what` is no semaphore.
    target_key(target_kind what, std::string_view of) noexcept
        : kind{what},
          name{of},
          hash{hash_of(of)},
          permits{1} {}
    /// Of another kind, with the same name.
    target_key(target const& of, target_kind which) noexcept
        : kind{which},
          name{of.lock},
          hash{of.hash},
          permits{of.permits} {}
    friend bool operator==(target_key const& a, target_key const& b) noexcept {
        return a.kind == b.kind && a.permits == b.permits && a.name == b.name;
    }
};

struct target_key_hash {
    std::size_t operator()(target_key const& of) const noexcept {
        return std::size_t{of.hash} ^ static_cast<std::size_t>(of.kind) ^
               std::size_t{of.permits} << 8;
    }
};

/// A name as it may stand in a log: printable, and not too long.
[[nodiscard]] std::string escaped(std::string_view name, std::size_t longest = 64);

}  // namespace holdfast::detail

#endif
