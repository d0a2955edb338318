#ifndef HOLDFAST_MULTI_LEASE_HPP
#define HOLDFAST_MULTI_LEASE_HPP

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
#include <vector>

namespace holdfast {

/// The right to be the holder of all members of a `multi_lock` until a deadline.
///
/// It is a lease of each member, and they go together: once one member is lost, this lease is lost.
/// The other members stay held, and are renewed, until the release. Everything that `lease` says of
/// renewal, of its destructor and of mutual exclusion holds here.
///
/// A lease that was never granted, or was moved from, has no client. Its operations end with
/// `errc::not_held`, and a handler without an executor of its own is called on the
/// `asio::system_executor`.
///
/// @par Thread safety
/// `valid`, `state`, `loss`, `token`, `tokens`, `size`, `deadline`, `remaining` and the conversion
/// to `bool` may be called from any thread, also while an operation runs. Everything else: distinct
/// objects safe, shared objects unsafe. The operations may be started from any thread.
class [[nodiscard]] HOLDFAST_EXPORT multi_lease {
public:
    /// The type that `get_executor()` returns.
    using executor_type = asio::any_io_executor;

    /// The executor of the first member's client: a handler of `renew()` or `release()` that has no
    /// executor of its own is called there. The `asio::system_executor` if there is no client.
    [[nodiscard]] executor_type get_executor() const noexcept {
        return detail::executor_of(group_.get());
    }

    /// An empty lease.
    multi_lease() noexcept = default;

    /// @{
    /// A lease can be moved, not copied. A lease that was moved from is empty. Assignment first
    /// releases the old lease in the background, as the destructor does.
    multi_lease(multi_lease&& other) noexcept = default;
    multi_lease& operator=(multi_lease&& other) noexcept;
    multi_lease(multi_lease const&) = delete;
    multi_lease& operator=(multi_lease const&) = delete;
    /// @}

    /// Lets the clients release all members in the background, if they were not released. Does not
    /// wait for the releases.
    ~multi_lease();

    /// @{
    /// Whether there is a lease at all: granted and not yet released. A lost lease counts; see
    /// `valid()`. A temporary cannot be asked: `if (co_await lock.try_acquire())` would give the
    /// locks back before the body runs.
    [[nodiscard]] explicit operator bool() const& noexcept { return state() != lease_state::empty; }
    explicit operator bool() const&& = delete;
    /// @}

    /// @{
    /// Whether the holder may act now: the leases of all members are valid. Computed from the clock
    /// at each call; once false, it stays false. A temporary cannot be asked.
    [[nodiscard]] bool valid() const& noexcept;
    bool valid() const&& = delete;
    /// @}

    /// The state at this instant, by the clock: that of the member which is worst off.
    [[nodiscard]] lease_state state() const noexcept;

    /// Why the lease was lost: the reason of the first member that was seen to be lost. `none` if
    /// none was. It still tells so after a release that reported `errc::lease_lost`.
    [[nodiscard]] loss_reason loss() const noexcept;

    /// The number of members; zero if there was no grant.
    [[nodiscard]] std::size_t size() const noexcept;

    /// The fencing token of a member, by its number in the order in which the multi-lock was made.
    /// Each member's name has tokens of its own: the store that a member protects gets that
    /// member's. It stays after the release. Zero if there is no such member.
    [[nodiscard]] fencing_token token(std::size_t member) const noexcept;

    /// The tokens of all members, in that order.
    ///
    /// @par Errors   `std::bad_alloc`.
    [[nodiscard]] std::vector<fencing_token> tokens() const;

    /// The time at which the server may grant one of the members to somebody else: the earliest
    /// deadline of all. See `lease::deadline()`.
    [[nodiscard]] lease_clock::time_point deadline() const noexcept;

    /// The time until `deadline()`; never negative.
    [[nodiscard]] lease_clock::duration remaining() const noexcept;

    /// Renews all members now. See `lease::renew()`.
    ///
    /// @par Completion     `void(error_code)`
    /// On success the deadline has moved. After an error some members may have been renewed.
    /// @par Cancellation
    /// All types complete at once. The server may have renewed the members.
    /// @par Lifetimes      The lease may be moved or destroyed meanwhile.
    /// @par Errors
    /// As `lease::renew()`: `errc::lease_lost` if any member is lost, else the first member's that
    /// has one.
    template <detail::token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto renew(Token&& token = Token()) {
        return detail::initiate<Token, void(error_code), &detail::start_renew_all>(
            token,
            get_executor(),
            group_
        );
    }

    /// Releases all members, each of them also if that of another fails. The lease is empty as soon
    /// as the operation starts. The requests do not wait for each other.
    ///
    /// @par Completion     `void(error_code)`
    /// Success: all members were held, and are free or the next holder's now. The operation
    /// completes when each member's release has. See `lease::release()`.
    /// @par Cancellation
    /// All types complete at once with `operation_aborted`. The releases go on in the background.
    /// @par Lifetimes      The lease may be moved or destroyed meanwhile.
    /// @par Errors
    /// As `lease::release()`: `errc::lease_lost` if any member had been lost before, else the first
    /// member's that has one.
    template <detail::token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto release(Token&& token = Token()) {
        return detail::initiate<Token, void(error_code), &detail::start_release_all>(
            token,
            get_executor(),
            group_
        );
    }

    /// Waits until a member is lost.
    ///
    /// @par Completion     `void(error_code, loss_reason)`
    /// Success: a member is lost for the given reason, and so is this lease. Several operations may
    /// wait. A handler without an executor of its own is called on the executor of the handler that
    /// acquired the lease.
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
    explicit multi_lease(std::shared_ptr<detail::lease_group> held) noexcept
        : group_{std::move(held)} {}

    std::shared_ptr<detail::lease_group> group_;
};

}  // namespace holdfast

#endif
