#ifndef HOLDFAST_CORE_QUORUM_CLOCK_HPP
#define HOLDFAST_CORE_QUORUM_CLOCK_HPP

#include "core/lease_terms.hpp"

#include <holdfast/fencing_token.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace holdfast::detail {

/// What the clocks of a quorum's servers show: what the one that is ahead of the others has shown,
/// and what has passed since. Its time is the token to propose: a node takes one that is greater
/// than its counter and not far behind its own clock.
class quorum_clock {
public:
    /// A reply that came at `at` said this time, in microseconds.
    void on_reply(std::uint64_t server_time, time_point at) noexcept {
        if (server_time > time_at(at) && server_time <= greatest) {
            newest_ = server_time;
            seen_at_ = at;
        }
    }
    /// For a lock whose last token was `last`, as far as is known. Zero: nothing is known.
    [[nodiscard]] fencing_token propose(fencing_token last, time_point now) const noexcept {
        auto const next = last.value == 0 ? 0 : last.value + 1;
        auto const proposed = std::max(time_at(now), next);
        return {proposed <= greatest ? proposed : 0};
    }

private:
    static constexpr std::uint64_t greatest = (std::uint64_t{1} << 53) - 1;

    [[nodiscard]] std::uint64_t time_at(time_point at) const noexcept {
        using std::chrono::microseconds;
        auto const since = std::chrono::duration_cast<microseconds>(at - seen_at_);
        return newest_ == 0
                   ? 0
                   : newest_ + static_cast<std::uint64_t>(std::max(since, microseconds{0}).count());
    }

    std::uint64_t newest_ = 0;
    time_point seen_at_{};
};

}  // namespace holdfast::detail

#endif
