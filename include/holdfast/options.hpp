#ifndef HOLDFAST_OPTIONS_HPP
#define HOLDFAST_OPTIONS_HPP

#include <holdfast/lease_duration.hpp>
#include <holdfast/owner.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace holdfast {

/// Settings of one acquisition. If a value is out of range, the operation ends with
/// `errc::invalid_lease` or `errc::invalid_options` and sends nothing.
struct acquire_options {
    /// How long the server keeps the lock without a renewal, rounded down to milliseconds: 1 s …
    /// 24 h. Zero, or nothing, means `config::lease`.
    ///
    /// `holdfast::learned` lets the server work it out from how long this lock is usually held. A
    /// usual hold then needs no renewal, and a lock that is held for 50 ms at a time is free some
    /// seconds after its holder crashed. The lease is between `config::learned_lease_min` and
    /// `config::lease`; the latter also as long as nothing is known. A hold that takes longer than
    /// usual is renewed, each time for as long as it was held before, up to `config::lease`. The
    /// estimate is kept beside the lock, for a day after the last release: see the page "How long a
    /// lease is". It needs `renew`.
    lease_duration lease = {};

    /// Whether the lease is renewed until it is released. Without renewal it ends by itself after
    /// the lease duration.
    bool renew = true;

    /// The part of the lease duration after which the lease is renewed: above 0, at most 0.5, and
    /// before the lease would be reported as lost (see `config::loss_margin`).
    double renew_at = 1.0 / 3.0;

    /// The longest time that the lock may be held, counted from the grant. The lease is lost
    /// (`loss_reason::max_hold`) when that time is over, and others may have the lock
    /// `config::loss_margin` later. Zero means no limit; any other value must
    /// be at least the lease duration, which for `learned` is `config::lease`.
    std::chrono::nanoseconds max_hold{0};

    /// How often the lease is renewed without the holder's doing. After that it ends by time, and
    /// is reported as lost before (`loss_reason::max_renewals`). None means no limit.
    ///
    /// `lease::renew()` is never refused for it, and counting starts again with it. So a task that
    /// calls it after each step keeps the lock as long as it gets on. Only renewals that `renew_at`
    /// asks for count: none that failed, and none that the client sends for another reason, such
    /// as a hand-over or a new connection. Those do not lengthen a lease that has a limit.
    std::optional<std::uint32_t> max_renewals = std::nullopt;

    /// After what time a `lock` without an expiry is taken over. Zero means never. Other kinds of
    /// lock are not taken over: the log has one error, and `force_release()` frees them.
    ///
    /// holdfast and Redisson never leave a lock without one. Another tool or a `PERSIST` may.
    /// Without an expiry the server never frees it. The time runs on this client's clock, from the
    /// first answer that showed it such a lock, and starts again whenever an answer shows another
    /// holder, another count or an expiry. When it is over, the waiter looks once more: if the
    /// server finds the lock unchanged, this waiter has it, with a new token, and the log has a
    /// warning. A lock that has an expiry is never taken over.
    ///
    /// It is of use to an operation that waits. Of a client's waiters, the first in line decides.
    std::chrono::nanoseconds orphan_after{0};

    /// The task that acquires the lock; it may hold the lock already. Without an owner a lock is
    /// not re-entrant.
    ///
    /// If a lease that this owner acquired from this client for this name is valid, the operation
    /// completes with a further lease on the same grant, without asking the server. Otherwise it
    /// asks the server; if another acquisition of the same owner is granted meanwhile, this one
    /// joins it.
    ///
    /// The leases of one grant share its token, deadline, state and loss. The options of the first
    /// lease govern the grant until its end; the options of the others only have to be valid. The
    /// grant is renewed on the executor of the oldest lease that was not released, and the holder
    /// of each lease is told of a loss on its own executor. Each lease is released by itself, in
    /// any order. Only the last release sends a request and frees the lock.
    ///
    /// A lost grant cannot be joined: the owner then waits, like anybody else, until the old leases
    /// are released or the key has expired, and gets a new grant with a new token.
    ///
    /// A context must not be destroyed with leases in it while another thread releases a lease of
    /// the same owner.
    std::optional<holdfast::owner> owner = std::nullopt;
};

// GCC 12 destroys a temporary aggregate in a co_await expression twice. That is harmless if there
// is nothing to destroy.
static_assert(std::is_trivially_destructible_v<acquire_options>);

}  // namespace holdfast

#endif
