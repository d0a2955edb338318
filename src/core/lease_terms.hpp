#ifndef HOLDFAST_CORE_LEASE_TERMS_HPP
#define HOLDFAST_CORE_LEASE_TERMS_HPP

#include <holdfast/config.hpp>
#include <holdfast/error.hpp>
#include <holdfast/lease_clock.hpp>
#include <holdfast/options.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace holdfast::detail {

using nanos = std::chrono::nanoseconds;
using millis = std::chrono::milliseconds;
using time_point = lease_clock::time_point;

inline constexpr std::size_t max_name_length = 512;
inline constexpr millis min_lease{1'000};
inline constexpr millis max_lease{std::chrono::hours{24}};

/// How old a confirmation may be that is as good as one of this moment. It is about a round trip,
/// and a small part of the shortest lease.
inline constexpr nanos just_now = millis{20};

/// A part of a time; `part` is from 0 to 1.
[[nodiscard]] inline nanos scaled(nanos whole, double part) noexcept {
    return nanos{static_cast<nanos::rep>(static_cast<double>(whole.count()) * part)};
}

/// The times of one acquisition, worked out once.
struct lease_terms {
    static constexpr auto no_limit = std::numeric_limits<std::uint32_t>::max();

    /// What the server is asked for. Of a learned lease that the server has not told yet: the
    /// longest that it can be.
    millis lease{30'000};
    /// Taken off at this end for clocks that run at different speeds.
    nanos drift{0};
    /// Between the `lost` signal and the deadline.
    nanos loss_margin{0};
    /// From the sending of a request that was confirmed to the next renewal, as the options say.
    nanos renew_after{0};
    /// The kind of lock has to be renewed within this time. A renewal before `renew_after` does not
    /// count, and gives a lease no time that its options limit.
    nanos renew_within = nanos::max();
    nanos request_timeout{0};
    /// From the grant; zero: no limit.
    nanos max_hold{0};
    bool renew = true;
    /// The lease is as long as usual holds need.
    bool learned = false;
    /// Without the holder's doing.
    std::uint32_t max_renewals = no_limit;

    /// From the sending of a request that was confirmed to the next one that is needed.
    [[nodiscard]] nanos renew_every() const noexcept { return std::min(renew_after, renew_within); }

    /// The options limit how often it is renewed.
    [[nodiscard]] bool limits_renewals() const noexcept {
        return !renew || max_renewals != no_limit;
    }

    /// When a lease that was granted or renewed by a request sent at `sent_at` is lost, unless it
    /// is renewed before.
    [[nodiscard]] time_point lost_at(time_point sent_at) const noexcept {
        return sent_at + lease - drift - loss_margin;
    }

    /// The `loss_margin` of a lease that is shorter from the beginning: the same part of it.
    [[nodiscard]] nanos margin_within(nanos time) const noexcept {
        auto const part =
            static_cast<double>(time.count()) / static_cast<double>(nanos{lease}.count());
        return std::min(loss_margin, scaled(loss_margin, part));
    }

    /// These, limited as `of`: in what is renewed, and for how long.
    [[nodiscard]] lease_terms limited_as(lease_terms const& of) const noexcept {
        auto made = *this;
        made.max_hold = of.max_hold;
        made.renew = of.renew;
        made.max_renewals = of.max_renewals;
        return made;
    }

    friend bool operator==(lease_terms const&, lease_terms const&) = default;
};

/// A time as the user sees it: `from + d`, or the end of time where that does not fit.
[[nodiscard]] time_point saturating_add(time_point from, nanos d) noexcept;

/// The times of an acquisition, or why its options are refused: `invalid_lease` where a lost
/// connection could not be made up for within the lease, see below.
[[nodiscard]] error_code make_terms(
    config const& settings,
    acquire_options const& options,
    lease_terms& out
) noexcept;

/// How long a lease the server is to be asked for, so that its holder may rely on `time` of it.
[[nodiscard]] millis lease_for(config const& settings, nanos time) noexcept;

/// The same terms for a lease of another length.
[[nodiscard]] lease_terms terms_with(
    config const& settings,
    lease_terms const& of,
    millis lease
) noexcept;

// Of learned leases:
/// None is shorter.
[[nodiscard]] millis shortest_learned_lease(config const& settings) noexcept;
/// A lease covers a usual hold so many times. Its first renewal would be due when a hold has lasted
/// twice as long as usual.
[[nodiscard]] std::int64_t usual_holds_in_a_lease(lease_terms const& of) noexcept;
/// For a hold of this usual length; zero: it is not known.
[[nodiscard]] lease_terms learned_terms(
    config const& settings,
    lease_terms const& of,
    nanos usual_hold
) noexcept;
/// What to renew with after the lock was held for so long. A hold that runs long is renewed seldom
/// and survives longer breaks: it is likely to go on for as long again.
[[nodiscard]] lease_terms renewed_terms(
    config const& settings,
    lease_terms const& of,
    nanos held
) noexcept;

/// The longest time to wait for the answer to a request under this lease.
[[nodiscard]] nanos request_timeout_for(config const& settings, millis lease) noexcept;
/// The longest lease that the server may be asked for with these terms.
[[nodiscard]] inline millis longest_to_ask(config const& settings, lease_terms const& of) noexcept {
    return of.learned ? std::max(of.lease, settings.lease) : of.lease;
}
/// The longest time to wait for replicas with what a request of this time-out wrote.
[[nodiscard]] nanos replication_timeout_for(config const& settings, nanos request_timeout) noexcept;
[[nodiscard]] nanos connect_timeout_of(config const& settings) noexcept;
[[nodiscard]] nanos health_check_interval_of(config const& settings) noexcept;

}  // namespace holdfast::detail

#endif
