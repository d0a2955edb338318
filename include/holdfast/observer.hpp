#ifndef HOLDFAST_OBSERVER_HPP
#define HOLDFAST_OBSERVER_HPP

#include <holdfast/error.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fencing_token.hpp>
#include <holdfast/lease_state.hpp>
#include <holdfast/stats_source.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>

namespace holdfast {

/// How a lock came to its holder.
enum class grant_kind : std::uint8_t {
    /// The lock was free, and the acquisition waited for nobody.
    uncontended,
    /// From a holder of this client, without a command.
    own_client,
    /// From another client, by its release.
    other_client,
    /// The lock was free, and this client was told so.
    notification,
    /// The lock was free when its holder's lease had ended, or when this client looked by chance.
    expiry,
    /// Its owner has it already.
    joined,
};

/// The name of the enumerator, such as `own_client`; `unknown` for any other value.
///
/// @par Thread safety   Safe.
[[nodiscard]] HOLDFAST_EXPORT std::string_view to_string(grant_kind kind) noexcept;

/// What is told of a client's acquisitions, leases and connections as it happens, for metrics and
/// traces. Derive from it, override what is of interest, and set `config::observer`.
///
/// No function is called while the library has locked a mutex. They may start operations, which
/// begin when the function has returned. They must not block: the client waits for them. Texts are
/// valid during the call. Nothing is told once the client's execution context is being destroyed.
///
/// Each member of a multi lock, and each node of a quorum lock, is acquired by itself, and told of
/// once with its final result: attempts that are repeated are not. What a node of a quorum grants
/// in vain is told as a grant and a release.
///
/// @par Thread safety   The functions are called by whichever thread an event happens on, by
///     several at a time. What happens to one acquisition, or to one lease, is told in its order.
class HOLDFAST_EXPORT observer {
public:
    /// Makes an observer. A client tells it something once `config::observer` names it.
    observer() noexcept = default;
    /// @{
    /// Clients share an observer. It is not copied.
    observer(observer const&) = delete;
    observer& operator=(observer const&) = delete;
    /// @}
    /// It is told nothing any more.
    virtual ~observer();

    /// One operation that acquires.
    struct acquisition {
        /// No other one of this client has it.
        std::uint64_t number = 0;
        /// The lock's name, with its prefix.
        std::string_view lock;
        /// It has had to wait for another holder: `on_wait` was told of it.
        bool had_to_wait = false;
    };
    /// What an acquisition was granted.
    struct grant {
        /// How the lock came to it.
        grant_kind kind = grant_kind::uncontended;
        /// From the start of the operation.
        std::chrono::nanoseconds waited{0};
        /// Of the grant. Zero where the kind of lock has no tokens.
        fencing_token token;
    };
    /// What is held. The leases of one owner count as one.
    struct held_lock {
        /// The lock's name, with its prefix.
        std::string_view lock;
        /// Of the grant. A quorum lock may raise it.
        fencing_token token;
    };
    /// One of the client's connections.
    struct connection {
        /// What it is for.
        enum class purpose : std::uint8_t {
            /// Scripts: acquiring, renewing, releasing.
            commands,
            /// Being told of releases and of locks that are handed over.
            subscriptions,
        };
        /// Which server it leads to: a number of this client's.
        std::uint32_t server = 0;
        /// What it is for.
        purpose what = purpose::commands;
    };

    /// A client begins, inside its constructor. `of` is what it counts, now and after its end: for
    /// sums over clients that come and go.
    virtual void on_client(stats_source const& of) noexcept;

    /// An operation begins, inside the call that begins it.
    virtual void on_acquire(acquisition const& what) noexcept;
    /// It has to wait for another holder.
    virtual void on_wait(acquisition const& what) noexcept;
    /// It was granted what it wanted.
    virtual void on_grant(acquisition const& what, grant const& of) noexcept;
    /// The acquisition ended without a grant. Without an error, somebody else had the lock until
    /// the time was up.
    virtual void on_no_grant(
        acquisition const& what,
        error_code why,
        std::chrono::nanoseconds waited
    ) noexcept;

    /// A renewal was confirmed, so long after it was sent.
    virtual void on_renewal(held_lock const& what, std::chrono::nanoseconds took) noexcept;
    /// A renewal has failed, or the connection is down. See `lease_state::in_doubt`.
    virtual void on_doubt(held_lock const& what) noexcept;
    /// The lease is lost. Where only its release learns of that, this follows `on_release`.
    virtual void on_loss(held_lock const& what, loss_reason why) noexcept;
    /// The holder has released or dropped the lease, also after a loss, or the deadline of a lost
    /// lease has passed. Each grant ends so once, but those of kind `joined`, and those of locks
    /// that have no leases.
    virtual void on_release(held_lock const& what, std::chrono::nanoseconds held_for) noexcept;

    /// @{
    /// A connection was made; it broke, or its client has ended.
    virtual void on_connected(connection const& which) noexcept;
    virtual void on_disconnected(connection const& which) noexcept;
    /// @}
};

}  // namespace holdfast

#endif
