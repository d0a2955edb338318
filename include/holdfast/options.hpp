#ifndef HOLDFAST_OPTIONS_HPP
#define HOLDFAST_OPTIONS_HPP

#include <chrono>
#include <type_traits>

namespace holdfast {

/// Settings of one acquisition. Anything out of range ends the operation with
/// `errc::invalid_lease` or `errc::invalid_options` before a request is sent.
struct acquire_options {
    /// How long the server keeps the lock without a renewal; rounded down to milliseconds. 1 s … 24
    /// h; zero means `config::lease`.
    std::chrono::nanoseconds lease{0};

    /// Whether the lease is renewed until it is released. Without renewal it ends by itself: a
    /// fixed lease.
    bool renew = true;

    /// The part of the lease after which it is renewed: above 0, at most 0.5, and before an
    /// unrenewed lease would be lost (see `config::notice`).
    double renew_at = 1.0 / 3.0;

    /// The longest time that the lock may be held, counted from the grant; renewal ends so that the
    /// lease is lost (`loss_reason::max_hold`) by then. Zero means no limit; otherwise at least the
    /// lease duration.
    std::chrono::nanoseconds max_hold{0};
};

// GCC 12 destroys a temporary aggregate twice that is an operand of co_await, unless there is
// nothing to destroy.
static_assert(std::is_trivially_destructible_v<acquire_options>);

}  // namespace holdfast

#endif
