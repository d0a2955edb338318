#ifndef HOLDFAST_CORE_LEASE_TERMS_HPP
#define HOLDFAST_CORE_LEASE_TERMS_HPP

#include <holdfast/config.hpp>
#include <holdfast/error.hpp>
#include <holdfast/lease_clock.hpp>
#include <holdfast/options.hpp>

#include <chrono>
#include <cstddef>

namespace holdfast::detail {

using nanos = std::chrono::nanoseconds;
using millis = std::chrono::milliseconds;
using time_point = lease_clock::time_point;

inline constexpr std::size_t max_name_length = 512;
inline constexpr millis min_lease{1'000};
inline constexpr millis max_lease{std::chrono::hours{24}};

/// The times of one acquisition, worked out once.
struct lease_terms {
    /// What the server is asked for.
    millis lease{30'000};
    /// Taken off at this end for clocks that run at different speeds.
    nanos drift{0};
    /// Between the `lost` signal and the deadline.
    nanos loss_margin{0};
    /// From the sending of a request that was confirmed to the next renewal.
    nanos renew_after{0};
    nanos request_timeout{0};
    /// From the grant; zero: no limit.
    nanos max_hold{0};
    bool renew = true;

    /// When a lease that was granted or renewed by a request sent at `sent_at` is lost, unless it
    /// is renewed before.
    [[nodiscard]] time_point lost_at(time_point sent_at) const noexcept {
        return sent_at + lease - drift - loss_margin;
    }

    friend bool operator==(lease_terms const&, lease_terms const&) = default;
};

/// A part of a time; `part` is from 0 to 1.
[[nodiscard]] inline nanos scaled(nanos whole, double part) noexcept {
    return nanos{static_cast<nanos::rep>(static_cast<double>(whole.count()) * part)};
}

/// A time as the user sees it: `from + d`, or the end of time where that does not fit.
[[nodiscard]] time_point saturating_add(time_point from, nanos d) noexcept;

/// The times of an acquisition, or why its options are refused: `invalid_lease` where a lost
/// connection could not be made up for within the lease, see below.
[[nodiscard]] error_code make_terms(
    config const& settings,
    acquire_options const& options,
    lease_terms& out
) noexcept;

/// The longest time to wait for the answer to a request under this lease.
[[nodiscard]] nanos request_timeout_for(config const& settings, millis lease) noexcept;
[[nodiscard]] nanos connect_timeout_of(config const& settings) noexcept;
[[nodiscard]] nanos health_check_interval_of(config const& settings) noexcept;

}  // namespace holdfast::detail

#endif
