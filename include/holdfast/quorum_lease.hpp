#ifndef HOLDFAST_QUORUM_LEASE_HPP
#define HOLDFAST_QUORUM_LEASE_HPP

#include <holdfast/detail/initiation.hpp>
#include <holdfast/detail/multi_operations.hpp>
#include <holdfast/detail/token_for.hpp>
#include <holdfast/error.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fencing_token.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/lease_clock.hpp>
#include <holdfast/lease_state.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/deferred.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace holdfast {

/// The right to be the holder of a `quorum_lock` until a deadline.
///
/// It stands on a lease on each of the nodes that granted the lock, and is valid while a majority
/// of all nodes' leases are. When fewer are left it is lost, for good. What is left of it is
/// released at the next renewal interval (`acquire_options::renew_at`), and not before the
/// deadline. Each node's lease is renewed by itself. A node that was late, could not be reached or
/// has lost its lease is asked again every renewal interval while the others stand, under the rules
/// of `quorum_lock`; so nodes may be restarted one after the other under a lease that is held for
/// long. It is not asked again with `renew` off or with `max_renewals`. Everything that `lease`
/// says of renewal, of its destructor and of mutual exclusion holds here.
///
/// A lease that was never granted, or was moved from, has no client. Its operations end with
/// `errc::not_held`, and a handler without an executor of its own is called on the
/// `asio::system_executor`.
///
/// @par Thread safety
/// `valid`, `state`, `loss`, `token`, `nodes`, `deadline`, `remaining` and the conversion to `bool`
/// may be called from any thread, also while an operation runs. Everything else: distinct objects
/// safe, shared objects unsafe. The operations may be started from any thread.
class [[nodiscard]] HOLDFAST_EXPORT quorum_lease {
public:
    /// The type that `get_executor()` returns.
    using executor_type = asio::any_io_executor;

    /// The executor of the first node's client: a handler of `renew()` or `release()` that has no
    /// executor of its own is called there. The `asio::system_executor` if there is no client.
    [[nodiscard]] executor_type get_executor() const noexcept {
        return detail::executor_of(group_.get());
    }

    /// An empty lease.
    quorum_lease() noexcept = default;

    /// @{
    /// A lease can be moved, not copied. A lease that was moved from is empty. Assignment first
    /// releases the old lease in the background, as the destructor does.
    quorum_lease(quorum_lease&& other) noexcept;
    quorum_lease& operator=(quorum_lease&& other) noexcept;
    quorum_lease(quorum_lease const&) = delete;
    quorum_lease& operator=(quorum_lease const&) = delete;
    /// @}

    /// Lets the clients release the lock on all nodes in the background, if it was not released.
    /// Does not wait for that.
    ~quorum_lease();

    /// @{
    /// Whether there is a lease at all: granted and not yet released. A lost lease counts; see
    /// `valid()`. A temporary cannot be asked: `if (co_await lock.try_acquire())` would give the
    /// lock back before the body runs.
    [[nodiscard]] explicit operator bool() const& noexcept { return state() != lease_state::empty; }
    explicit operator bool() const&& = delete;
    /// @}

    /// @{
    /// Whether the holder may act now: the leases of a majority of the nodes are valid. Computed
    /// from the clock at each call; once false, it stays false. A temporary cannot be asked.
    [[nodiscard]] bool valid() const& noexcept;
    bool valid() const&& = delete;
    /// @}

    /// The state at this instant, by the clock. `held` as long as a majority's leases are;
    /// `in_doubt` if some of them have to be counted for it whose renewal has failed.
    [[nodiscard]] lease_state state() const noexcept;

    /// Why the lease was lost: the reason of one of the nodes' leases, without which there was no
    /// majority. It still tells so after a release that reported `errc::lease_lost`.
    [[nodiscard]] loss_reason loss() const noexcept;

    /// The fencing token, which is greater than that of every grant of this name before. It stays
    /// after the release. Zero if there was no grant.
    [[nodiscard]] fencing_token token() const noexcept;

    /// The number of nodes whose leases are valid at this instant; zero after the release.
    [[nodiscard]] std::size_t nodes() const noexcept;

    /// The time at which too few leases may be left if none is renewed: a majority of the nodes
    /// keep the lock until then. See `lease::deadline()`.
    [[nodiscard]] lease_clock::time_point deadline() const noexcept;

    /// The time until `deadline()`; never negative.
    [[nodiscard]] lease_clock::duration remaining() const noexcept;

    /// Renews the leases of all nodes now. See `lease::renew()`.
    ///
    /// @par Completion     `void(error_code)`
    /// On success a majority of the nodes have confirmed it, and the deadline has moved. Slow nodes
    /// are not waited for.
    /// @par Cancellation   All types complete at once. Nodes may have renewed the lease.
    /// @par Lifetimes      The lease may be moved or destroyed meanwhile.
    /// @par Errors
    /// As `lease::renew()`: `errc::lease_lost` if too few leases are left, else the first node's
    /// that has one.
    template <detail::token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto renew(Token&& token = Token()) {
        return detail::initiate<Token, void(error_code), &detail::start_renew_all>(
            token,
            get_executor(),
            group_
        );
    }

    /// Releases the lock on all nodes. The lease is empty as soon as the operation starts.
    ///
    /// @par Completion     `void(error_code)`
    /// Success: the lock was held, and a majority of the nodes have confirmed that it is free. The
    /// releases on the others go on in the background.
    /// @par Cancellation
    /// All types complete at once with `operation_aborted`. The releases go on in the background.
    /// @par Lifetimes      The lease may be moved or destroyed meanwhile.
    /// @par Errors
    /// As `lease::release()`: `errc::lease_lost` if too few leases were left, else the first node's
    /// that has one.
    template <detail::token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto release(Token&& token = Token()) {
        return detail::initiate<Token, void(error_code), &detail::start_release_all>(
            token,
            get_executor(),
            group_
        );
    }

    /// Waits until too few leases are left for a majority.
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
        return detail::initiate<Token, void(error_code, loss_reason), &detail::start_wait_any_lost>(
            token,
            get_executor(),
            group_
        );
    }

private:
    friend class detail::lease_group;
    friend struct detail::lease_access;
    quorum_lease(std::shared_ptr<detail::lease_group> held, fencing_token token) noexcept
        : group_{std::move(held)},
          token_{token} {}

    std::shared_ptr<detail::lease_group> group_;
    fencing_token token_;
};

}  // namespace holdfast

#endif
