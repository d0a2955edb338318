#ifndef HOLDFAST_PROTOCOL_WORDS_HPP
#define HOLDFAST_PROTOCOL_WORDS_HPP

#include "protocol/primitive.hpp"
#include "protocol/reply.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::detail {

// What the calls and replies of all kinds have in common.

[[nodiscard]] inline std::int64_t signed_of(std::uint64_t number) noexcept {
    return static_cast<std::int64_t>(number);
}
/// What a reply has in the place of a number that cannot be negative.
[[nodiscard]] inline std::uint64_t unsigned_of(std::int64_t number) noexcept {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(number, 0));
}
[[nodiscard]] inline std::int64_t whole_micros(std::chrono::nanoseconds length) noexcept {
    return std::chrono::floor<std::chrono::microseconds>(length).count();
}

/// What a refused attempt answers first.
inline constexpr std::int64_t busy_word = 0;

/// A grant, or that the key holds something else; what a refusal says is the kind's own.
[[nodiscard]] attempt_reply read_grant(script_reply const& reply);
/// The same, and a refusal where places are kept by asking again.
[[nodiscard]] attempt_reply read_kept(script_reply const& reply);
/// A place in the queue whose words begin there.
[[nodiscard]] std::optional<queue_place> place_in(script_reply const& reply, std::size_t at);
/// A place as an attempt states it; `none` if the waiter had none.
[[nodiscard]] std::string words_of(former_place const& had, std::string_view none);
/// The argument of an attempt where places are kept by asking again: whether it waits.
[[nodiscard]] std::string waits_of(primitive::attempt const& what);
/// The arguments of an attempt about a learned lease; zeros without one.
void add_learning(call& to, std::optional<primitive::learning> const& what);
/// The arguments about holds that have ended; zeros if there are none.
void add_ended_holds(call& to, usual_hold::report const& what);
/// What a script worked out.
[[nodiscard]] learned_lease learned_in(script_reply const& reply, std::size_t at);
/// Renewals and releases answer `1`, or `0` and whether the key is there.
[[nodiscard]] loss_reason why_lost(script_reply const& reply);
/// What was said about the lock of this number: a digit for each.
[[nodiscard]] std::optional<loss_reason> renewed_in(script_reply const& reply, std::size_t number);
[[nodiscard]] force_release_reply forced_in(script_reply const& reply);

}  // namespace holdfast::detail

#endif
