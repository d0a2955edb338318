#ifndef HOLDFAST_LOCKABLE_HPP
#define HOLDFAST_LOCKABLE_HPP

#include <holdfast/detail/acquire.hpp>
#include <holdfast/detail/client_operations.hpp>
#include <holdfast/detail/patience.hpp>
#include <holdfast/detail/token_for.hpp>
#include <holdfast/error.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <chrono>
#include <concepts>
#include <utility>

namespace holdfast {

template <class Derived>
class named_lock;

/// The operations that every lock-like type has. They are members of `lock`; a program needs this
/// base class only to accept any lock-like type, and then the concept `lock_like` is shorter.
///
/// `Lease` is what a grant gives: `lease`, of a `multi_lock` a `multi_lease`, of a `quorum_lock` a
/// `quorum_lease`.
///
/// @par Thread safety   Like the derived type. Starting an operation only reads the object.
template <class Derived, class Lease = lease>
class lockable {
public:
    /// The type that `get_executor()` returns.
    using executor_type = asio::any_io_executor;

    /// The executor of the client: a handler that has no executor of its own is called there.
    [[nodiscard]] executor_type get_executor() const noexcept {
        return detail::executor_of(prepared());
    }

    /// @{
    /// Acquires the lock, waiting while another holder has it.
    ///
    /// Sends one attempt. If the lock is held, subscribes to the notification of its release and
    /// sleeps until that comes or the holder's lease runs out, then tries again; the waiters of one
    /// client are served in order. Connection losses and temporary refusals (see
    /// `errc::server_refused`) do not end the wait. Nor do replicas that do not confirm a grant in
    /// time (see `config::replicas`): it is withdrawn, and tried again.
    ///
    /// If `acquire_options::owner` already holds the lock, the operation completes with a further
    /// lease on the same grant.
    ///
    /// @par Completion     `void(error_code, Lease)`
    /// On success the lease is valid, is being renewed (unless `acquire_options::renew` is false),
    /// and its token is greater than any granted before for this name. On error the lease is empty.
    /// The handler is called on its associated executor, never inside this call. It waits in memory
    /// of its associated allocator.
    /// @par Renewal
    /// The lease is renewed on a strand of the handler's associated executor, so that a holder that
    /// is stuck there stops renewing. This needs an executor that converts to
    /// `asio::any_io_executor`. A handler whose type was erased before it got here, such as an
    /// `asio::any_completion_handler`, no longer shows its executor: the lease is then renewed on
    /// the client's executor, even while the holder is stuck. `asio::bind_executor(executor,
    /// handler)` names the executor again.
    /// @par Cancellation
    /// Waiting: all types complete at once and leave nothing behind. Attempt in flight: `terminal`
    /// and `partial` complete at once and the attempt is withdrawn in the background; `total` alone
    /// waits for the answer and delivers a lease that was granted. A grant that was decided is
    /// always delivered. The lock stays usable in every case.
    /// @par Lifetimes
    /// The lock may be destroyed while the operation is outstanding. The context of the handler's
    /// executor must outlive the lease, unless the context destroys the lease itself.
    /// @par Errors
    /// `errc::invalid_name`, `invalid_lease`, `invalid_options`; `too_many_waiters`;
    /// `corrupt_state`; `auth_failed`, `no_permission`, `tls_failed`, `unsupported_server`;
    /// `lease_lost` if the process stood still after the grant until the lease was over;
    /// `client_stopped`; `operation_aborted`.
    template <detail::token_for<void(error_code, Lease)> Token = asio::deferred_t>
    [[nodiscard]] auto acquire(Token&& token = Token()) const {
        return acquire(acquire_options{}, std::forward<Token>(token));
    }

    /// The same, with options.
    ///
    /// @par Completion, cancellation, lifetimes, errors   As `acquire()`.
    template <detail::token_for<void(error_code, Lease)> Token = asio::deferred_t>
    [[nodiscard]] auto acquire(acquire_options options, Token&& token = Token()) const {
        return initiate<Token>(options, detail::patience::unlimited, {}, token);
    }
    /// @}

    /// @{
    /// Sends one attempt.
    ///
    /// @par Completion     `void(error_code, Lease)`
    /// Success with an empty lease: another holder has the lock. "Could not ask" is an error.
    /// @par Cancellation, lifetimes    As `acquire()`.
    /// @par Errors
    /// As `acquire()`, and `errc::unreachable` or `errc::server_refused` if no answer came within a
    /// request time-out; `errc::not_replicated` if the grant was withdrawn because too few replicas
    /// confirmed it (see `config::replicas`).
    template <detail::token_for<void(error_code, Lease)> Token = asio::deferred_t>
    [[nodiscard]] auto try_acquire(Token&& token = Token()) const {
        return try_acquire(acquire_options{}, std::forward<Token>(token));
    }

    /// The same, with options.
    ///
    /// @par Completion, cancellation, lifetimes, errors   As `try_acquire()`.
    template <detail::token_for<void(error_code, Lease)> Token = asio::deferred_t>
    [[nodiscard]] auto try_acquire(acquire_options options, Token&& token = Token()) const {
        return initiate<Token>(options, detail::patience::one_attempt, {}, token);
    }
    /// @}

    /// @{
    /// Acquires the lock, waiting no longer than `limit`; zero means one attempt. If the server has
    /// not answered since the operation began when the time is up, and is connected, the operation
    /// waits for the answer up to 100 ms longer, but no longer than one request timeout. A lease
    /// that was granted meanwhile is delivered.
    ///
    /// @par Completion     `void(error_code, Lease)`
    /// Success with an empty lease: the time is up, and since the operation began the server said
    /// that another holder has the lock, or another lease of this client has it.
    /// @par Cancellation, lifetimes    As `acquire()`.
    /// @par Errors
    /// As `acquire()`; `errc::invalid_options` for a negative limit; if the time is up and the
    /// server did not say "busy", the cause: `errc::unreachable`, `errc::server_refused` or
    /// `errc::not_replicated`.
    template <detail::token_for<void(error_code, Lease)> Token = asio::deferred_t>
    [[nodiscard]] auto try_acquire_for(std::chrono::nanoseconds limit, Token&& token = Token())
        const {
        return try_acquire_for(limit, acquire_options{}, std::forward<Token>(token));
    }

    /// The same, with options.
    ///
    /// @par Completion, cancellation, lifetimes, errors   As `try_acquire_for()`.
    template <detail::token_for<void(error_code, Lease)> Token = asio::deferred_t>
    [[nodiscard]] auto try_acquire_for(
        std::chrono::nanoseconds limit,
        acquire_options options,
        Token&& token = Token()
    ) const {
        return initiate<Token>(options, detail::patience::limited, limit, token);
    }
    /// @}

private:
    friend Derived;
    friend class named_lock<Derived>;
    friend class multi_lock;
    friend class quorum_lock;
    lockable() = default;

    // What is acquired: `request()` of the derived type fills in the client and the key, or what a
    // request of its own has in their place.
    auto prepared() const { return static_cast<Derived const&>(*this).request(); }

    // `Token` is given, not deduced: a reference where the caller passed an lvalue.
    template <class Token>
    auto initiate(
        acquire_options options,
        detail::patience how_long,
        std::chrono::nanoseconds limit,
        Token& token
    ) const {
        auto asked = prepared();
        asked.options = options;
        asked.how_long = how_long;
        asked.limit = limit;
        return asio::async_initiate<Token, void(error_code, Lease)>(
            detail::acquire_initiation<decltype(asked)>{std::move(asked)},
            token
        );
    }
};

namespace detail {

template <class Signature>
struct granted_by;

template <class Lease>
struct granted_by<void(error_code, Lease)> {
    using type = Lease;
};

}  // namespace detail

/// What a lock-like type's `acquire()` gives: a `lease`, or what has its interface.
template <class Lock>
using lease_of = typename detail::granted_by<asio::completion_signature_of_t<
    decltype(std::declval<Lock const&>().acquire(acquire_options{}, asio::deferred))>>::type;

/// What `with_lease()` accepts: a copyable handle with `acquire(options, token)`, which gives a
/// `lease`, a `multi_lease` or a `quorum_lease`.
template <class T>
concept lock_like = std::copy_constructible<T> &&
                    (std::same_as<lease_of<T>, lease> || std::same_as<lease_of<T>, multi_lease> ||
                     std::same_as<lease_of<T>, quorum_lease>);

}  // namespace holdfast

#endif
