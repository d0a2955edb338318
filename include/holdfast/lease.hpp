#ifndef HOLDFAST_LEASE_HPP
#define HOLDFAST_LEASE_HPP

#include <holdfast/error.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fencing_token.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/lease_clock.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <chrono>
#include <memory>
#include <utility>

namespace holdfast {

/// What has become of a lease.
enum class lease_state {
    /// No lease: default-constructed, moved from, released, or not granted.
    empty,
    /// The holder may act.
    held,
    /// Still valid, but the last renewal failed or the connection is down; it may be held again, or
    /// be lost.
    in_doubt,
    /// Over for good; `loss()` says why.
    lost,
};

/// Why a lease was lost.
enum class loss_reason {
    /// It was not lost, or there is no lease.
    none,
    /// The lease ran out: it was not to be renewed, or the holder's executor was blocked.
    expired,
    /// Another holder has the lock.
    taken,
    /// The key is gone from the server.
    deleted,
    /// No renewal was confirmed in time.
    unreachable,
    /// `acquire_options::max_hold` is over.
    max_hold,
    /// The client was shut down or destroyed.
    client_stopped,
};

namespace detail {

using plain_handler = asio::any_completion_handler<void(error_code)>;
using loss_handler = asio::any_completion_handler<void(error_code, loss_reason)>;

[[nodiscard]] HOLDFAST_EXPORT asio::any_io_executor executor_of(lease_share const* held) noexcept;
HOLDFAST_EXPORT void start_renew(std::shared_ptr<lease_share> held, plain_handler handler);
HOLDFAST_EXPORT void start_release(std::shared_ptr<lease_share> held, plain_handler handler);
HOLDFAST_EXPORT void start_wait_lost(std::shared_ptr<lease_share> held, loss_handler handler);

/// Starts an operation on a lease. It holds the shared state, because a deferred operation may
/// start after the lease has moved.
template <auto Start>
struct lease_initiation {
    std::shared_ptr<lease_share> held;
    asio::any_io_executor executor;

    using executor_type = asio::any_io_executor;
    [[nodiscard]] executor_type get_executor() const noexcept { return executor; }

    template <class Handler>
    void operator()(Handler&& handler) && {
        Start(std::move(held), std::forward<Handler>(handler));
    }
};

}  // namespace detail

/// The right to be the holder of a lock until a deadline.
///
/// It is renewed on its own until it is released, unless the acquisition said otherwise. A lease
/// that goes out of scope hands its release to the client, which sends it in the background: the
/// destructor neither blocks nor throws.
///
/// A lease is not mutual exclusion by itself. A process that is paused may wake up after its
/// deadline; `valid()` tells it so, and `token()` lets the protected store refuse what it sent
/// before it looked.
///
/// A lease that never was granted, or was moved from, has no client: its operations end with
/// `errc::not_held`, and a handler without an executor of its own is called on the
/// `asio::system_executor`.
///
/// @par Thread safety
/// `valid`, `state`, `loss`, `token`, `deadline`, `remaining` and the conversion to `bool` may be
/// called from any thread, also while an operation runs. Everything else: distinct objects safe,
/// shared objects unsafe. The operations may be started from any thread.
class [[nodiscard]] HOLDFAST_EXPORT lease {
public:
    /// An empty lease.
    lease() noexcept = default;

    /// @{
    /// Can be moved, not copied. One that was moved from is empty. One that is assigned to is given
    /// up first, as by its destructor.
    lease(lease&& other) noexcept = default;
    lease& operator=(lease&& other) noexcept;
    lease(lease const&) = delete;
    lease& operator=(lease const&) = delete;
    /// @}

    /// Hands the release over to the client if the lease was not released, and does not wait for
    /// it.
    ~lease();

    /// Whether there is a lease at all: granted and not yet released. A lost lease counts; see
    /// `valid()`.
    [[nodiscard]] explicit operator bool() const noexcept { return state() != lease_state::empty; }

    /// Whether the holder may act now. Computed from the clock at each call; once false, it stays
    /// false.
    [[nodiscard]] bool valid() const noexcept;

    /// The state at this instant, by the clock.
    [[nodiscard]] lease_state state() const noexcept;

    /// Why the lease was lost; `none` unless `state()` is `lost`.
    [[nodiscard]] loss_reason loss() const noexcept;

    /// The fencing token of the grant, also after the release; zero if there never was one.
    [[nodiscard]] fencing_token token() const noexcept;

    /// The instant at which the server may give the lock to somebody else, seen from here: counted
    /// from before the request was sent, less the drift allowance. `valid()` ends earlier, by
    /// `config::notice`. A lease that was released still tells that of its grant;
    /// `time_point::min()` if there never was one.
    [[nodiscard]] lease_clock::time_point deadline() const noexcept;

    /// The time until `deadline()`; never negative. It still counts down after a loss, so that work
    /// can stop in time; look at `state()` to learn whether there is a lease.
    [[nodiscard]] lease_clock::duration remaining() const noexcept;

    /// Renews the lease now; needed only for one that was acquired with `renew = false`, or before
    /// a long step.
    ///
    /// @par Completion     `void(error_code)`
    /// On success the deadline has moved. Otherwise the old one stands.
    /// @par Cancellation
    /// All types complete at once; the server may have renewed the lease, the deadline stays as it
    /// was.
    /// @par Lifetimes      The lease may be moved or destroyed meanwhile.
    /// @par Errors
    /// `errc::not_held`; `errc::lease_lost`; `errc::unreachable` if there is no connection or no
    /// answer came within a request time-out; `errc::server_refused`; the permanent causes;
    /// `operation_aborted`.
    template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto renew(Token&& token = Token()) {
        return initiate<void(error_code), &detail::start_renew>(token);
    }

    /// Gives the lock back and empties the lease.
    ///
    /// @par Completion     `void(error_code)`
    /// Success: the lock was ours and is free; or, for one of several leases of an `owner`, it
    /// stays with the others. The lease is empty from the start of the operation, whatever comes.
    /// @par Cancellation
    /// All types complete at once with `operation_aborted`; the release goes on in the background.
    /// @par Lifetimes      The lease may be moved or destroyed meanwhile.
    /// @par Errors
    /// `errc::not_held` if there is nothing to release; `errc::lease_lost` if the lease had been
    /// lost before (the key is freed all the same if it is still ours); `errc::release_unknown` if
    /// no answer came within two request time-outs: the release is repeated in the background, and
    /// the lock is free when the lease ends, at the latest; `errc::no_permission` or another
    /// permanent cause if the server's user may not release: the lock is free when the lease ends;
    /// `operation_aborted`.
    template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto release(Token&& token = Token()) {
        return initiate<void(error_code), &detail::start_release>(token);
    }

    /// Waits until the lease is lost.
    ///
    /// @par Completion     `void(error_code, loss_reason)`
    /// Success: it is lost, for the reason given. Several may wait. A handler without an executor
    /// of its own is called on that of the handler that acquired the lease.
    /// @par Cancellation   All types complete at once; it only watches.
    /// @par Lifetimes      The lease may be moved or destroyed meanwhile; its release, and so its
    /// destruction, ends the wait.
    /// @par Errors         `errc::not_held` if the lease is empty or was released;
    /// `operation_aborted`.
    template <asio::completion_token_for<void(error_code, loss_reason)> Token = asio::deferred_t>
    [[nodiscard]] auto wait_lost(Token&& token = Token()) {
        return initiate<void(error_code, loss_reason), &detail::start_wait_lost>(token);
    }

private:
    friend class detail::grant;
    explicit lease(std::shared_ptr<detail::lease_share> held) noexcept : share_{std::move(held)} {}

    template <class Signature, auto Start, class Token>
    auto initiate(Token& token) {
        return asio::async_initiate<Token, Signature>(
            detail::lease_initiation<Start>{share_, detail::executor_of(share_.get())},
            token
        );
    }

    std::shared_ptr<detail::lease_share> share_;
};

}  // namespace holdfast

#endif
