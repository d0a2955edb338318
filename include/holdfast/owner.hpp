#ifndef HOLDFAST_OWNER_HPP
#define HOLDFAST_OWNER_HPP

#include <holdfast/export.hpp>

#include <array>
#include <cstdint>
#include <type_traits>

namespace holdfast {

/// Names the task on whose behalf a lock is acquired, so that the task may acquire it again.
///
/// A lock is not re-entrant by itself: neither a thread nor a coroutine is an identity that could
/// be trusted. A task that wants to re-enter makes an owner and passes it along to whatever it
/// calls; copies are the same owner. See `lock::acquire()` with an owner.
///
/// An owner means something within one client only. It is not a secret, and it is not what the
/// server stores.
///
/// @par Thread safety   A value: distinct objects safe, shared objects safe unless assigned to.
class HOLDFAST_EXPORT owner {
public:
    /// An owner that is like no other: 128 random bits from the system.
    ///
    /// @throws std::system_error if the system has no random bits to give.
    [[nodiscard]] static owner make();

    /// Whether both are the same owner.
    friend bool operator==(owner const&, owner const&) noexcept = default;

    /// The random bits, for a hash table.
    [[nodiscard]] std::array<std::uint64_t, 2> const& words() const noexcept { return words_; }

private:
    // Not an aggregate and without a default constructor: `acquire({})` means options.
    explicit owner(std::array<std::uint64_t, 2> const& words) noexcept : words_{words} {}

    std::array<std::uint64_t, 2> words_;
};

// An operand of co_await, see acquire_options.
static_assert(std::is_trivially_destructible_v<owner>);

}  // namespace holdfast

#endif
