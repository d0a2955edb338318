#ifndef HOLDFAST_LOCK_HPP
#define HOLDFAST_LOCK_HPP

#include <holdfast/error.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fencing_token.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>
#include <holdfast/owner.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {

/// What `lock::inspect()` saw.
struct lock_info {
    /// Whether anybody has the lock.
    bool held = false;
    /// The time until the lock's key expires; none if it is free, or if it has no expiry (see
    /// `never_expires`).
    std::optional<std::chrono::milliseconds> remaining;
    /// The key has no expiry: a crashed tool left it behind, or somebody removed the expiry. Nobody
    /// gets this lock until an operator deletes the key, or `force_release` does.
    bool never_expires = false;
    /// `<client id>:<number>` of the holder; empty if the lock is free.
    std::string holder;
    /// How often the holder has acquired it; always 1 for a holder that uses this library. 0 if the
    /// lock is free.
    std::uint64_t hold_count = 0;
    /// The newest token handed to anybody; zero if there is none.
    fencing_token last_token;
    /// Operations of this client that wait for the lock.
    std::size_t local_waiters = 0;
};

namespace detail {

using acquire_handler = asio::any_completion_handler<void(error_code, lease)>;
using inspect_handler = asio::any_completion_handler<void(error_code, lock_info)>;
using force_handler = asio::any_completion_handler<void(error_code, bool)>;

[[nodiscard]] HOLDFAST_EXPORT asio::any_io_executor executor_of(client_state const& client
) noexcept;

enum class patience { unlimited, one_attempt, limited };

struct acquire_request {
    std::shared_ptr<client_state> client;
    std::shared_ptr<key_names const> key;
    acquire_options options;
    patience how_long = patience::unlimited;
    std::chrono::nanoseconds limit{0};
    std::optional<owner> who;
};

/// `holder` is where the lease will be renewed.
HOLDFAST_EXPORT void start_acquire(
    acquire_request request,
    asio::any_io_executor holder,
    acquire_handler handler
);
HOLDFAST_EXPORT void start_inspect(
    std::shared_ptr<client_state> client,
    std::shared_ptr<key_names const> key,
    inspect_handler handler
);
HOLDFAST_EXPORT void start_force_release(
    std::shared_ptr<client_state> client,
    std::shared_ptr<key_names const> key,
    force_handler handler
);

struct acquire_initiation {
    acquire_request request;

    using executor_type = asio::any_io_executor;
    [[nodiscard]] executor_type get_executor() const noexcept {
        return executor_of(*request.client);
    }

    template <class Handler>
    void operator()(Handler&& handler) && {
        auto const fallback = executor_of(*request.client);
        auto const associated = asio::get_associated_executor(handler, fallback);
        if constexpr (std::convertible_to<decltype(associated), asio::any_io_executor>) {
            start_acquire(std::move(request), associated, std::forward<Handler>(handler));
        } else {
            start_acquire(std::move(request), fallback, std::forward<Handler>(handler));
        }
    }
};

template <auto Start>
struct key_initiation {
    std::shared_ptr<client_state> client;
    std::shared_ptr<key_names const> key;

    using executor_type = asio::any_io_executor;
    [[nodiscard]] executor_type get_executor() const noexcept { return executor_of(*client); }

    template <class Handler>
    void operator()(Handler&& handler) && {
        Start(std::move(client), std::move(key), std::forward<Handler>(handler));
    }
};

}  // namespace detail

/// A lock that at most one holder in all processes has at a time; compatible with Redisson's
/// `RLock` and `RFencedLock`.
///
/// A cheap value: a shared pointer to the client and a name. Making one does no I/O and never
/// fails; a wrong name is reported by the operations. It is not re-entrant: a second `acquire` by
/// the same coroutine waits for the first lease, unless both name the same `owner`. A lock that was
/// moved from can only be destroyed or assigned to.
///
/// @par Thread safety   Distinct objects: safe. Shared objects: safe, except moving and assignment.
class HOLDFAST_EXPORT lock {
public:
    /// @{
    /// Acquires the lock, waiting while another holder has it.
    ///
    /// Sends one attempt. If the lock is held, subscribes to the notice of its release and sleeps
    /// until that comes or the holder's lease runs out, then tries again; the waiters of one client
    /// are served in order. Connection losses and refusals that pass (see `errc::server_refused`)
    /// are waited through.
    ///
    /// @par Completion     `void(error_code, lease)`
    /// On success the lease is valid, is being renewed (unless `acquire_options::renew` is false),
    /// and its token is greater than any granted before for this name. On error the lease is empty.
    /// Delivered on the handler's associated executor, never inside this call; the lease is renewed
    /// on a strand of that executor, so that a holder that is stuck there stops renewing.
    /// @par Cancellation
    /// Waiting: all types complete at once and leave nothing behind. Attempt in flight: `terminal`
    /// and `partial` complete at once and the attempt is withdrawn in the background; `total` alone
    /// waits for the answer and delivers a lease that was granted. A grant that was decided is
    /// always delivered. The lock stays usable in every case.
    /// @par Lifetimes
    /// The lock may be destroyed while the operation is outstanding. The context of the handler's
    /// executor must outlive the lease, unless it takes the lease with it.
    /// @par Errors
    /// `errc::invalid_name`, `invalid_lease`, `invalid_options`; `too_many_waiters`;
    /// `corrupt_state`; `auth_failed`, `no_permission`, `tls_failed`, `unsupported_server`;
    /// `client_stopped`; `operation_aborted`.
    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto acquire(Token&& token = Token()) const {
        return acquire(acquire_options{}, std::forward<Token>(token));
    }

    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto acquire(acquire_options options, Token&& token = Token()) const {
        return initiate_acquire({}, options, detail::patience::unlimited, {}, token);
    }
    /// @}

    /// @{
    /// Sends one attempt.
    ///
    /// @par Completion     `void(error_code, lease)`
    /// Success with an empty lease: another holder has the lock. "Could not ask" is an error.
    /// @par Cancellation, lifetimes    As `acquire()`.
    /// @par Errors
    /// As `acquire()`, and `errc::unreachable` or `errc::server_refused` if no answer came within a
    /// request time-out.
    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto try_acquire(Token&& token = Token()) const {
        return try_acquire(acquire_options{}, std::forward<Token>(token));
    }

    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto try_acquire(acquire_options options, Token&& token = Token()) const {
        return initiate_acquire({}, options, detail::patience::one_attempt, {}, token);
    }
    /// @}

    /// @{
    /// Acquires the lock, waiting no longer than `limit`; zero means one attempt.
    ///
    /// @par Completion     `void(error_code, lease)`
    /// Success with an empty lease: the time is up, and the last answer was that another holder has
    /// the lock.
    /// @par Cancellation, lifetimes    As `acquire()`.
    /// @par Errors
    /// As `acquire()`; `errc::invalid_options` for a negative limit; if the time is up and the
    /// server never said "busy", the cause: `errc::unreachable` or `errc::server_refused`.
    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto try_acquire_for(std::chrono::nanoseconds limit, Token&& token = Token())
        const {
        return try_acquire_for(limit, acquire_options{}, std::forward<Token>(token));
    }

    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto try_acquire_for(
        std::chrono::nanoseconds limit,
        acquire_options options,
        Token&& token = Token()
    ) const {
        return initiate_acquire({}, options, detail::patience::limited, limit, token);
    }
    /// @}

    /// @{
    /// Acquires the lock on behalf of `who`, which may hold it already.
    ///
    /// If a lease that `who` acquired from this client for this name is valid, the operation
    /// completes with a further lease on the same grant, without asking the server. Otherwise it
    /// goes on as `acquire()` without an owner; should another acquisition of the same owner be
    /// granted meanwhile, this one joins it.
    ///
    /// The leases of one grant share its token, deadline, state and loss. The options of the first
    /// govern the grant until the end; those of the others only have to be valid. It is renewed on
    /// the executor of the oldest lease that was not released, and each holder is told of a loss on
    /// his own. Each lease is released by itself, in any order, and the last release frees the
    /// lock; one before that sends nothing.
    ///
    /// A context must not be destroyed with leases in it while another thread releases a lease of
    /// the same owner.
    ///
    /// A lost grant is not joined any more: the same owner then waits, like anybody else, until the
    /// old leases are released or the key has expired, and gets a new grant with a new token.
    ///
    /// @par Completion, cancellation, lifetimes, errors    As `acquire()` without an owner.
    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto acquire(owner const& who, Token&& token = Token()) const {
        return acquire(who, acquire_options{}, std::forward<Token>(token));
    }

    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto acquire(owner const& who, acquire_options options, Token&& token = Token())
        const {
        return initiate_acquire(who, options, detail::patience::unlimited, {}, token);
    }
    /// @}

    /// @{
    /// Sends one attempt, unless `who` holds the lock already: then as `acquire()` with an owner.
    ///
    /// @par Completion, cancellation, lifetimes, errors    As `try_acquire()` without an owner.
    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto try_acquire(owner const& who, Token&& token = Token()) const {
        return try_acquire(who, acquire_options{}, std::forward<Token>(token));
    }

    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto try_acquire(
        owner const& who,
        acquire_options options,
        Token&& token = Token()
    ) const {
        return initiate_acquire(who, options, detail::patience::one_attempt, {}, token);
    }
    /// @}

    /// @{
    /// Acquires the lock for `who` within `limit`; if `who` holds it already, as `acquire()` with
    /// an owner.
    ///
    /// @par Completion, cancellation, lifetimes, errors    As `try_acquire_for()` without an owner.
    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto try_acquire_for(
        owner const& who,
        std::chrono::nanoseconds limit,
        Token&& token = Token()
    ) const {
        return try_acquire_for(who, limit, acquire_options{}, std::forward<Token>(token));
    }

    template <asio::completion_token_for<void(error_code, lease)> Token = asio::deferred_t>
    [[nodiscard]] auto try_acquire_for(
        owner const& who,
        std::chrono::nanoseconds limit,
        acquire_options options,
        Token&& token = Token()
    ) const {
        return initiate_acquire(who, options, detail::patience::limited, limit, token);
    }
    /// @}

    /// Asks the server who has the lock. For operators and tests: the answer is old when it
    /// arrives.
    ///
    /// @par Completion     `void(error_code, lock_info)`
    /// On error the info means nothing.
    /// @par Cancellation   All types complete at once; it only looks.
    /// @par Lifetimes      The lock may be destroyed meanwhile.
    /// @par Errors
    /// `errc::corrupt_state` if the key holds something else; `errc::unreachable`,
    /// `errc::server_refused` if there is no answer within a request time-out;
    /// `errc::invalid_name`; the permanent causes; `errc::client_stopped`; `operation_aborted`.
    template <asio::completion_token_for<void(error_code, lock_info)> Token = asio::deferred_t>
    [[nodiscard]] auto inspect(Token&& token = Token()) const {
        return asio::async_initiate<Token, void(error_code, lock_info)>(
            detail::key_initiation<&detail::start_inspect>{client_, key_},
            token
        );
    }

    /// Takes the lock away from whoever has it and wakes a waiter. The holder learns of it at its
    /// next renewal; until then two holders may act. For operators; nothing in this library calls
    /// it.
    ///
    /// @par Completion     `void(error_code, bool)`
    /// True if there was a lock to free. A key that is not a lock is left alone:
    /// `errc::corrupt_state`.
    /// @par Cancellation   All types complete at once; the lock may have been freed, or be freed
    /// later.
    /// @par Lifetimes, errors    As `inspect()`.
    template <asio::completion_token_for<void(error_code, bool)> Token = asio::deferred_t>
    [[nodiscard]] auto force_release(Token&& token = Token()) const {
        return asio::async_initiate<Token, void(error_code, bool)>(
            detail::key_initiation<&detail::start_force_release>{client_, key_},
            token
        );
    }

    /// The name that the lock has on the server: prefix and name; empty if the name is wrong (see
    /// `errc::invalid_name`). Good as long as a copy of the lock exists.
    [[nodiscard]] std::string const& name() const noexcept;

private:
    friend class client;
    lock(std::shared_ptr<detail::client_state> client, std::string_view name);

    template <class Token>
    auto initiate_acquire(
        std::optional<owner> const& who,
        acquire_options options,
        detail::patience how_long,
        std::chrono::nanoseconds limit,
        Token& token
    ) const {
        return asio::async_initiate<Token, void(error_code, lease)>(
            detail::acquire_initiation{{client_, key_, options, how_long, limit, who}},
            token
        );
    }

    std::shared_ptr<detail::client_state> client_;
    std::shared_ptr<detail::key_names const> key_;
};

}  // namespace holdfast

#endif
