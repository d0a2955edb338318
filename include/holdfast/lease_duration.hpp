#ifndef HOLDFAST_LEASE_DURATION_HPP
#define HOLDFAST_LEASE_DURATION_HPP

#include <chrono>
#include <concepts>

namespace holdfast {

/// The type of `learned`, which has no other value.
///
/// @par Thread safety   Safe.
struct learned_t {};

/// As an `acquire_options::lease`: as long as the usual holds of this lock need.
inline constexpr learned_t learned{};

/// How long a lease is asked for: a duration, `config::lease`, or `learned`.
///
/// @par Thread safety   A value: distinct objects safe, shared objects safe unless assigned to.
class lease_duration {
public:
    /// `config::lease`.
    constexpr lease_duration() noexcept = default;
    /// Any duration that converts to nanoseconds without loss. Zero means `config::lease`.
    template <class Rep, class Period>
        requires std::convertible_to<std::chrono::duration<Rep, Period>, std::chrono::nanoseconds>
    constexpr lease_duration(std::chrono::duration<Rep, Period> const& length) noexcept
        : length_{length} {}
    /// From the server's estimate of how long this lock is held.
    constexpr lease_duration(learned_t) noexcept : learned_{true} {}

    /// Whether it is `learned`.
    [[nodiscard]] constexpr bool is_learned() const noexcept { return learned_; }
    /// The duration; zero if there is none: `config::lease`, or `learned`.
    [[nodiscard]] constexpr std::chrono::nanoseconds length() const noexcept { return length_; }

    /// Whether both ask for the same.
    friend constexpr bool operator==(lease_duration const&, lease_duration const&) noexcept =
        default;

private:
    std::chrono::nanoseconds length_{0};
    bool learned_ = false;
};

}  // namespace holdfast

#endif
