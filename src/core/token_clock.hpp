#ifndef HOLDFAST_CORE_TOKEN_CLOCK_HPP
#define HOLDFAST_CORE_TOKEN_CLOCK_HPP

#include "core/lease_terms.hpp"

#include <holdfast/fencing_token.hpp>

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
    /// The server has keys that it did not have. Their counters were written on another one,
    /// perhaps a moment ago, and what was taken by requests sent before tells nothing of these.
    void on_keys_added(time_point now) noexcept;

    /// By a request that was sent at `sent_at`. `at`: not before the grant was made.
    void on_granted(fencing_token token, time_point sent_at, time_point at) noexcept {
        granted_ = true;
        on_taken(token, sent_at, at);
    }
    /// For a lock that this client has already. `at`: not before they were taken.
    void on_taken(fencing_token token, time_point sent_at, time_point at) noexcept;

    /// Something was granted on this connection.
    [[nodiscard]] bool has_granted() const noexcept { return granted_; }

    /// A counter that has reached it was written on this connection's server, at most a moment ago.
    /// No counter has, if nothing was heard of that server lately.
    [[nodiscard]] fencing_token floor(time_point now) const noexcept;

private:
    struct knowledge {
        std::uint64_t first;
        std::uint64_t newest;
        time_point at;
        // When a token was taken last.
        time_point heard_at;
    };

    /// The least that it may be.
    [[nodiscard]] std::uint64_t time_at(time_point at) const noexcept;

    std::optional<knowledge> seen_;
    time_point keys_added_at_ = time_point::min();
    bool granted_ = false;
};

}  // namespace holdfast::detail

#endif
