#ifndef HOLDFAST_ERROR_HPP
#define HOLDFAST_ERROR_HPP

#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>

#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>

#include <string_view>
#include <type_traits>

namespace holdfast {

/// The errors of the operations. An operation that was cancelled reports
/// `asio::error::operation_aborted` instead.
enum class errc {
    /// The name is empty or longer than 512 bytes; or it has keys in common with another name, as
    /// `{a}` has with `a`, or it looks like a key that belongs to another lock; or, on a Redis
    /// Cluster, its braces would put its keys into different slots. The key prefix counts as a part
    /// of the name. The log says what to write instead. See `lock_name`.
    invalid_name = 1,
    /// The lease duration is outside 1 s … 24 h, or too short for the configured time-outs.
    invalid_lease,
    /// Another per-call option is out of range: `renew_at`, `max_hold`, `orphan_after`, a number
    /// of permits, or a negative time to wait. Or a learned lease is not to be renewed. Or more
    /// permits are wanted than the semaphore has.
    invalid_options,
    /// `config::max_waiters` operations of this client are already waiting for this lock, or so
    /// many
    /// of its single attempts are not answered yet.
    too_many_waiters,
    /// The lease was lost before it was released. `lease::loss()` says why.
    lease_lost,
    /// The release was sent but not answered. The lock is free at the latest when the lease ends.
    /// Of a latch or a counting semaphore: the request may have been executed, or may be yet.
    release_unknown,
    /// The lease is empty: never granted, moved from, or already released.
    not_held,
    /// Fewer than `config::replicas` confirmed the grant or the renewal in time. A grant is
    /// withdrawn
    /// then; a lease that was not renewed is valid until its deadline.
    not_replicated,
    /// Fewer than a majority of the nodes of a `quorum_lock` could be asked in time: they are down,
    /// cannot be reached, or were restarted a moment ago.
    quorum_not_reached,
    /// The key holds something that is not a lock. The library neither waits for it nor deletes it.
    corrupt_state,
    /// The server refused the user name or the password.
    auth_failed,
    /// The server's access rules forbid a command, a key or a channel that the lock needs.
    no_permission,
    /// The TLS handshake failed: the certificate or its host name was not accepted.
    tls_failed,
    /// The server cannot serve locks: no RESP3, no scripts, a node of a cluster where one server is
    /// expected, or the other way round.
    unsupported_server,
    /// The server refuses the request at the moment: it is loading its data, out of memory,
    /// read-only, busy, …
    server_refused,
    /// The client was shut down or destroyed, or it belongs to the process that forked this one.
    client_stopped,
    /// No server could be reached in time.
    unreachable,
    /// The owner has the read/write lock for reading, and asked for it for writing. It would wait
    /// for itself.
    would_deadlock,
    /// The semaphore has another number of permits than this client expects.
    limit_mismatch,
    /// All Sentinels that answered know no primary of the name `config::primary_name`.
    unknown_primary,
    /// The server has no number of permits for the semaphore: it was never set, or the server lost
    /// it. State it with `semaphore::limit()`, or set it with `semaphore::try_set_permits()`.
    permits_not_set,
};

/// The name of the enumerator, such as `lease_lost`; `unknown` for any other value.
/// `error_code::message()` gives a sentence.
///
/// @par Thread safety   Safe.
[[nodiscard]] HOLDFAST_EXPORT std::string_view to_string(errc value) noexcept;

/// The category of `errc`, named `holdfast`.
///
/// @par Thread safety   Safe.
[[nodiscard]] HOLDFAST_EXPORT boost::system::error_category const& error_category() noexcept;

/// Makes an `error_code` of the category `holdfast`.
///
/// @par Thread safety   Safe.
[[nodiscard]] inline error_code make_error_code(errc value) noexcept {
    return {static_cast<int>(value), error_category()};
}

/// Whether the same call may succeed later although nobody changes anything: the server was
/// unreachable or refused the request for the moment, there were too many waiters, or the lock was
/// busy (`asio::error::try_again` of `with_lease()`). False for success, for cancellation, and for
/// causes that somebody has to fix.
///
/// @par Thread safety   Safe.
[[nodiscard]] HOLDFAST_EXPORT bool is_retryable(error_code ec) noexcept;

}  // namespace holdfast

template <>
struct boost::system::is_error_code_enum<holdfast::errc> : std::true_type {};

#endif
