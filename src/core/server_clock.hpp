#ifndef HOLDFAST_CORE_SERVER_CLOCK_HPP
#define HOLDFAST_CORE_SERVER_CLOCK_HPP

#include "core/lease_terms.hpp"

#include <cstdint>
#include <optional>

namespace holdfast::detail {

/// What a server's clock showed after a request was sent. It tells when something ends that the
/// server has timed: a grant that came without a request has no other safe deadline. The receipt of
/// its message is no beginning, because the message may have been on its way for long.
class server_clock {
public:
    /// How old the knowledge may be.
    static constexpr nanos longest_age = millis{5'000};
    /// How far the two clocks may be apart since then. More is a step of one of them, or a message
    /// that was late.
    static constexpr nanos tolerance = millis{50};

    /// Another server, or another past.
    void reset() noexcept { seen_.reset(); }

    /// The reply to a request that was sent at `sent_at` said this time, in microseconds.
    void on_reply(time_point sent_at, std::uint64_t server_time) noexcept {
        if (!seen_ || sent_at >= seen_->sent_at) {
            seen_ = {sent_at, server_time};
        }
    }

    /// When a grant ends that the server made at `granted`, in microseconds, for so long. Nothing
    /// if that is not known, and the server has to be asked.
    ///
    /// The server's clock showed its time after the request was sent. So what ends so much later
    /// by that clock, ends no sooner than so much after the sending.
    [[nodiscard]] std::optional<time_point> end_of(
        std::uint64_t granted,
        nanos window,
        double drift,
        time_point now
    ) const noexcept;

private:
    struct pair {
        time_point sent_at;
        std::uint64_t server_time;
    };

    std::optional<pair> seen_;
};

}  // namespace holdfast::detail

#endif
