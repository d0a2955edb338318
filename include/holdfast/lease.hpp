#ifndef HOLDFAST_LEASE_HPP
#define HOLDFAST_LEASE_HPP

#include <holdfast/detail/initiation.hpp>
#include <holdfast/detail/lease_operations.hpp>
#include <holdfast/detail/token_for.hpp>
#include <holdfast/error.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fencing_token.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/lease_clock.hpp>
#include <holdfast/lease_state.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/deferred.hpp>

#include <chrono>
#include <memory>
#include <utility>

namespace holdfast {

/// The right to be the holder of a lock until a deadline.
///
/// A lease is renewed automatically until it is released, unless the acquisition disabled that.
/// When a lease goes out of scope, the client releases it in the background: the destructor neither
/// blocks nor throws. When the deadline of a lost lease has passed, the client gives the lock to
/// the next waiter or releases it, without waiting for the holder.
///
/// A lease alone does not guarantee mutual exclusion. A process may be paused and continue after
/// its deadline. `valid()` then returns false, and `token()` lets the protected store refuse what
/// the process sends before it checks.
///
/// A lease that was never granted, or was moved from, has no client. Its operations end with
/// `errc::not_held`, and a handler without an executor of its own is called on the
/// `asio::system_executor`.
///
/// @par Thread safety
/// `valid`, `state`, `loss`, `token`, `deadline`, `remaining` and the conversion to `bool` may be
/// called from any thread, also while an operation runs. Everything else: distinct objects safe,
/// shared objects unsafe. The operations may be started from any thread.
class [[nodiscard]] HOLDFAST_EXPORT lease {
public:
    /// The type that `get_executor()` returns.
    using executor_type = asio::any_io_executor;

    /// The executor of the client: a handler of `renew()` or `release()` that has no executor of
    /// its own is called there. The `asio::system_executor` if there is no client.
    [[nodiscard]] executor_type get_executor() const noexcept {
        return detail::executor_of(share_.get());
    }

    /// An empty lease.
    lease() noexcept = default;

    /// @{
    /// A lease can be moved, not copied. A lease that was moved from is empty. Assignment first
    /// releases the old lease in the background, as the destructor does.
    lease(lease&& other) noexcept = default;
    lease& operator=(lease&& other) noexcept;
    lease(lease const&) = delete;
    lease& operator=(lease const&) = delete;
    /// @}

    /// Lets the client release the lease in the background, if it was not released. Does not wait
    /// for the release. If nothing has used the lease, and it is destroyed in the handler that
    /// received it, as in `co_await lock.acquire();`, the client logs one warning.
    ~lease();

    /// @{
    /// Whether there is a lease at all: granted and not yet released. A lost lease counts; see
    /// `valid()`. A temporary cannot be asked: `if (co_await lock.try_acquire())` would give the
    /// lock back before the body runs. Write `if (auto lease = co_await lock.try_acquire())`.
    [[nodiscard]] explicit operator bool() const& noexcept;
    explicit operator bool() const&& = delete;
    /// @}

    /// @{
    /// Whether the holder may act now. Computed from the clock at each call; once false, it stays
    /// false. A temporary cannot be asked.
    [[nodiscard]] bool valid() const& noexcept;
    bool valid() const&& = delete;
    /// @}

    /// The state at this instant, by the clock.
    [[nodiscard]] lease_state state() const noexcept;

    /// Why the lease was lost; `none` if it was not. It still tells so after a release that
    /// reported `errc::lease_lost`.
    [[nodiscard]] loss_reason loss() const noexcept;

    /// The fencing token of the grant, also after the release. Zero if there was no grant.
    [[nodiscard]] fencing_token token() const noexcept;

    /// The time at which the server may grant the lock to somebody else.
    ///
    /// It is counted from just before the request was sent, minus the drift allowance. `valid()`
    /// becomes false earlier, by `config::loss_margin`; so it is also with the end that
    /// `acquire_options::max_hold` sets. A released lease keeps the deadline of its
    /// grant. `time_point::min()` if there was no grant.
    [[nodiscard]] lease_clock::time_point deadline() const noexcept;

    /// The time until `deadline()`; never negative.
    ///
    /// It says how much time is left to stop working, also after the lease was lost because it
    /// could not be renewed. `state()` says whether there is a lease.
    [[nodiscard]] lease_clock::duration remaining() const noexcept;

    /// Renews the lease now. This is needed only for a lease that was acquired with `renew =
    /// false`, or before a long step. `acquire_options::max_renewals` does not limit it, and
    /// starts counting again.
    ///
    /// @par Completion     `void(error_code)`
    /// On success the deadline has moved. Otherwise it stays as it was.
    /// @par Cancellation
    /// All types complete at once. The server may have renewed the lease; the deadline stays as it
    /// was.
    /// @par Lifetimes      The lease may be moved or destroyed meanwhile.
    /// @par Errors
    /// `errc::not_held`; `errc::lease_lost`; `errc::unreachable` if there is no connection or no
    /// answer came within a request time-out; `errc::server_refused`; `errc::not_replicated` if too
    /// few replicas have it (see `config::replicas`); the permanent causes;
    /// `operation_aborted`.
    template <detail::token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto renew(Token&& token = Token()) {
        return detail::initiate<Token, void(error_code), &detail::start_renew>(
            token,
            get_executor(),
            share_
        );
    }

    /// Releases the lock. The lease is empty as soon as the operation starts.
    ///
    /// @par Completion     `void(error_code)`
    /// Success: the lock was held, and is free or the next holder's now. If an operation of the
    /// same client gets it, the server is not asked: the lease's deadline had not passed. If the
    /// `owner` has other leases on the same grant, they keep the lock.
    /// @par Cancellation
    /// All types complete at once with `operation_aborted`. The release goes on in the background.
    /// @par Lifetimes      The lease may be moved or destroyed meanwhile.
    /// @par Errors
    /// `errc::not_held` if there is nothing to release; `errc::lease_lost` if the lease had been
    /// lost before (the key is freed all the same if it still belongs to this lease, and the lock
    /// was not given on after its deadline);
    /// `errc::release_unknown` if no answer came within two request time-outs: the release is
    /// repeated in the background, and the lock is free at the latest when the lease ends;
    /// `errc::no_permission` or another permanent cause if the server's user may not release: the
    /// lock is free when the lease ends; `operation_aborted`.
    template <detail::token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto release(Token&& token = Token()) {
        return detail::initiate<Token, void(error_code), &detail::start_release>(
            token,
            get_executor(),
            share_
        );
    }

    /// Waits until the lease is lost.
    ///
    /// @par Completion     `void(error_code, loss_reason)`
    /// Success: the lease is lost for the given reason. Several operations may wait. A handler
    /// without an executor of its own is called on the executor of the handler that acquired the
    /// lease.
    /// @par Cancellation   All types complete at once. The lease is not affected.
    /// @par Lifetimes      The lease may be moved or destroyed meanwhile. Its release, and so its
    /// destruction, ends the wait.
    /// @par Errors         `errc::not_held` if the lease is empty or was released;
    /// `operation_aborted`.
    template <detail::token_for<void(error_code, loss_reason)> Token = asio::deferred_t>
    [[nodiscard]] auto wait_lost(Token&& token = Token()) {
        return detail::initiate<Token, void(error_code, loss_reason), &detail::start_wait_lost>(
            token,
            get_executor(),
            share_
        );
    }

private:
    friend class detail::tenure;
    friend struct detail::lease_access;
    explicit lease(std::shared_ptr<detail::lease_share> held) noexcept : share_{std::move(held)} {}

    std::shared_ptr<detail::lease_share> share_;
};

}  // namespace holdfast

#endif
