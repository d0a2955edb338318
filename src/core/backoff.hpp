#ifndef HOLDFAST_CORE_BACKOFF_HPP
#define HOLDFAST_CORE_BACKOFF_HPP

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace holdfast::detail {

/// Exponential back-off with full jitter (M. Brooker, "Exponential Backoff And Jitter", AWS
/// Architecture Blog, 2015): the wait is drawn evenly from zero to a bound that doubles.
class backoff {
public:
    using duration = std::chrono::nanoseconds;
    /// The least bound of waits after a server has refused something. Where it does so again and
    /// again, it is asked about once a second, however quickly connections are made again.
    static constexpr duration refusals{std::chrono::seconds{2}};

    backoff(duration first, duration max) noexcept : first_{first}, max_{max}, bound_{first} {}

    /// `part` in [0, 1) is drawn by the caller.
    duration next(double part) noexcept {
        auto const wait =
            duration{static_cast<duration::rep>(static_cast<double>(bound_.count()) * part)};
        bound_ = std::min(bound_ * 2, max_);
        return wait;
    }

    void reset() noexcept { bound_ = first_; }

    friend bool operator==(backoff const&, backoff const&) = default;

private:
    duration first_;
    duration max_;
    duration bound_;
};

/// After a reconnection so many requests are spread over this much time: a server that has just
/// come up is not flooded by all its clients at once.
[[nodiscard]] constexpr std::chrono::nanoseconds spread_of(std::size_t requests) noexcept {
    using duration = std::chrono::nanoseconds;
    constexpr duration each{20'000};
    constexpr duration longest = std::chrono::milliseconds{250};
    return std::min(static_cast<duration::rep>(requests) * each, longest);
}

}  // namespace holdfast::detail

#endif
