#ifndef HOLDFAST_OWNER_HPP
#define HOLDFAST_OWNER_HPP

#include <holdfast/export.hpp>

#include <array>
#include <cstdint>
#include <type_traits>

namespace holdfast {

/// Names the task on whose behalf a lock is acquired, so that the task may acquire it again.
///
/// A lock is not re-entrant by itself, because a task may move between threads and consist of many
/// coroutines. A task that wants to re-enter makes an owner and passes it to the functions it
/// calls. Copies are the same owner. See `acquire_options::owner`.
///
/// An owner has a meaning within one client only. It is not a secret, and the server does not see
/// it.
///
/// @par Thread safety   A value: distinct objects safe, shared objects safe unless assigned to.
class HOLDFAST_EXPORT owner {
public:
    /// Makes an owner that is different from all others: 128 random bits from the system.
    ///
    /// @throws std::system_error if the system provides no random bits.
    [[nodiscard]] static owner make();

    /// Whether both are the same owner.
    friend bool operator==(owner const&, owner const&) noexcept = default;

    /// The random bits, for a hash table.
    [[nodiscard]] std::array<std::uint64_t, 2> const& words() const noexcept { return words_; }

private:
    // Not an aggregate and without a default constructor: an owner is made by `make()` only.
    explicit owner(std::array<std::uint64_t, 2> const& words) noexcept : words_{words} {}

    std::array<std::uint64_t, 2> words_;
};

// A part of acquire_options, which must be trivially destructible.
static_assert(std::is_trivially_destructible_v<owner>);

}  // namespace holdfast

#endif
