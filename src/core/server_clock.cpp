#include "core/server_clock.hpp"

#include <chrono>

namespace holdfast::detail {

std::optional<time_point> server_clock::end_of(
    std::uint64_t granted,
    nanos window,
    double drift,
    time_point now
) const noexcept {
    if (!seen_ || now - seen_->sent_at > longest_age) {
        return std::nullopt;
    }
    auto const apart = static_cast<std::int64_t>(granted - seen_->server_time);
    auto const since = now - seen_->sent_at;
    constexpr auto most =
        2 * std::chrono::duration_cast<std::chrono::microseconds>(longest_age + tolerance);
    if (apart > most.count() || apart < -most.count()) {
        return std::nullopt;
    }
    nanos const theirs = std::chrono::microseconds{apart};
    // mutant: clocks-are-not-compared
    if (theirs - since > tolerance || since - theirs > tolerance) {
        return std::nullopt;
    }
    // mutant: deadline-from-the-receipt
    return seen_->sent_at + theirs + window - scaled(since + window, drift) - tolerance;
}

}  // namespace holdfast::detail
