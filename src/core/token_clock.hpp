#ifndef HOLDFAST_CORE_TOKEN_CLOCK_HPP
#define HOLDFAST_CORE_TOKEN_CLOCK_HPP

#include "core/lease_terms.hpp"

#include <holdfast/fencing_token.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace holdfast::detail {

/// What the tokens that were taken on a connection tell about the server's clock. A token is the
/// server's time in microseconds, or less where the counter was that of a moment ago. So the
/// server's time is at least the token and what has passed since.
///
/// A token that is ahead of the server's time sets the floor too high. Then the server looks at its
/// clock more often than it has to.
class token_clock {
public:
    /// A counter that was written longer ago than this may have been lost since, and restored from
    /// something older. This is about one server: a failover on purpose is quicker.
    static constexpr nanos moment = millis{100};
    /// A primary that was quiet for longer may have lost its place and got it back meanwhile, and
    /// its connections stayed: what was known of its counters may be another server's.
    static constexpr nanos trusted_for = millis{1'000};

    /// On another connection there may be another server, or another past.
    void reset() noexcept { *this = {}; }

    /// `at`: not before the grant was made.
    void on_granted(fencing_token token, time_point at) noexcept {
        granted_ = true;
        on_taken(token, at);
    }
    /// For a lock that this client has already. `at`: not before they were taken.
    void on_taken(fencing_token token, time_point at) noexcept {
        if (!seen_) {
            seen_ = {token.value, token.value, at, at};
            return;
        }
        if (token.value > time_at(at)) {
            seen_->newest = token.value;
            seen_->at = at;
        }
        seen_->heard_at = std::max(seen_->heard_at, at);
    }

    /// Something was granted on this connection.
    [[nodiscard]] bool has_granted() const noexcept { return granted_; }

    /// A counter that has reached it was written on this connection's server, at most a moment ago.
    /// No counter has, if nothing was heard of that server lately.
    [[nodiscard]] fencing_token floor(time_point now) const noexcept {
        if (!seen_ || now - seen_->heard_at > trusted_for) {
            return {greatest};
        }
        auto const a_moment_ago = time_at(now) - std::min(microseconds(moment), time_at(now));
        return {std::min(std::max(a_moment_ago, seen_->first), greatest)};
    }

private:
    struct knowledge {
        std::uint64_t first;
        std::uint64_t newest;
        time_point at;
        // When a token was taken last.
        time_point heard_at;
    };

    static constexpr std::uint64_t greatest = (std::uint64_t{1} << 53) - 1;

    static std::uint64_t microseconds(nanos time) noexcept {
        using std::chrono::microseconds;
        return static_cast<std::uint64_t>(
            std::max(std::chrono::duration_cast<microseconds>(time), microseconds{0}).count()
        );
    }
    /// The least that it may be.
    [[nodiscard]] std::uint64_t time_at(time_point at) const noexcept {
        return seen_->newest + microseconds(at - seen_->at);
    }

    std::optional<knowledge> seen_;
    bool granted_ = false;
};

}  // namespace holdfast::detail

#endif
