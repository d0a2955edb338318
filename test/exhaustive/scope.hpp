#ifndef HOLDFAST_EXHAUSTIVE_SCOPE_HPP
#define HOLDFAST_EXHAUSTIVE_SCOPE_HPP

#include <array>
#include <cstdint>
#include <string_view>

namespace holdfast::exhaustive {

/// An instant or a time in ticks. What is not before `never` does not happen within a world's time.
using tick = std::uint8_t;
inline constexpr tick never = 63;

inline constexpr int client_count = 2;
/// Of one client.
inline constexpr int most_acquisitions = 2;

/// A defect of the model's own server or drivers, to prove that the checks find what they are for.
/// Defects of the machines are tried by changing `src/core`.
enum class sabotage {
    none,
    /// PEXPIRE by a renewal becomes SET: it makes the key, and takes it from another.
    renewal_creates,
    /// DEL instead of HDEL.
    release_frees_any,
    /// HINCRBY instead of HSET, so that a release gives back one of several.
    acquire_counts,
    /// The release is not announced.
    no_publish,
    /// The completion of SUBSCRIBE's write is taken for its confirmation.
    subscription_assumed,
    /// A waiter that leaves does not tell its room that it left an attempt behind.
    departure_untold,
    /// The lease of an abandoned attempt is not withdrawn.
    no_withdrawal,
    /// A release that was not answered is not repeated.
    release_not_repeated,
    /// The keep-alive is not woken by what happens to its lease.
    keep_alive_not_woken,
    /// The renewal that was decided upon is sent whatever became of the lease since.
    renewal_unchecked,
    /// The room of nobody keeps its subscription.
    no_sweep,
    /// A late grant is believed.
    late_grant_believed,
};

/// What is explored: how many of what, and for how long. Every order of events within it is tried.
struct scope {
    std::string_view name;

    /// What each client may ask for: one after the other, or at the same time.
    std::array<int, client_count> acquisitions{1, 1};
    /// They give up by themselves this long after they began; `never`: they do not.
    tick limit = never;
    /// Instead: they make one attempt (`try_acquire`).
    bool one_attempt = false;

    // The times of a lease, in ticks.
    tick lease = 3;
    tick notice = 1;
    tick renew_after = 1;
    tick max_hold = 0;
    bool renew = true;
    tick request_timeout = 1;
    /// After a renewal that failed.
    tick renewal_pause = 1;
    /// How long a waiter sleeps without a confirmed subscription.
    tick fallback = 2;
    /// How long a room that nobody waits in keeps its subscription.
    tick linger = 1;
    /// A holder's strand runs its keep-alive up to this long after it is due. Everything else runs
    /// in the tick in which it is due, before, between or after whatever else happens in that tick.
    tick slack = 0;

    // How often what may go wrong goes wrong, over a whole run.
    /// A client disappears.
    int crashes = 0;
    /// A request is not answered within its time-out, or is executed though its connection has
    /// ended.
    int late = 0;
    /// A request is executed a second time, then or at any time later.
    int duplicates = 0;
    /// A connection of a client breaks.
    int losses = 0;
    /// The server refuses a request with an error that passes.
    int refusals = 0;
    /// The server has forgotten a script, so that the request is sent a second time.
    int flushes = 0;
    /// Somebody removes the key by hand and says so (`force_release`). Its holder is the only one
    /// who may believe for a while what is not so.
    int removals = 0;
    /// Each acquisition may be cancelled, once.
    bool cancellations = false;

    /// Acquisitions begin up to this tick. The first one begins in tick 0.
    tick last_start = 2;
    /// From this tick on nothing goes wrong any more, nobody cancels, and no message takes time:
    /// whoever holds a lease gives it back, everything has to come to its end.
    tick quiet_from = 4;
    /// By now it has.
    tick end = 12;

    sabotage defect = sabotage::none;
};

}  // namespace holdfast::exhaustive

#endif
