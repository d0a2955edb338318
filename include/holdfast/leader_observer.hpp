#ifndef HOLDFAST_LEADER_OBSERVER_HPP
#define HOLDFAST_LEADER_OBSERVER_HPP

#include <holdfast/detail/election_operations.hpp>
#include <holdfast/detail/initiation.hpp>
#include <holdfast/detail/token_for.hpp>
#include <holdfast/error.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/leader_info.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/deferred.hpp>

#include <memory>
#include <utility>

namespace holdfast {

/// Follows the leaders of an election. See `election::observe()`.
///
/// @par Thread safety   Distinct objects: safe. Shared objects: `next()` may be started from any
/// thread; everything else unsafe.
class [[nodiscard]] HOLDFAST_EXPORT leader_observer {
public:
    /// The type that `get_executor()` returns.
    using executor_type = asio::any_io_executor;

    /// The executor of the client: a handler that has no executor of its own is called there. The
    /// `asio::system_executor` if there is no client.
    [[nodiscard]] executor_type get_executor() const noexcept {
        return detail::executor_of(observes_.get());
    }

    /// One that observes nothing: `next()` ends with `errc::not_held`.
    leader_observer() noexcept = default;

    /// @{
    /// An observer can be moved, not copied. One that was moved from observes nothing. Assignment
    /// ends the old one, as the destructor does.
    leader_observer(leader_observer&& other) noexcept = default;
    leader_observer& operator=(leader_observer&& other) noexcept;
    leader_observer(leader_observer const&) = delete;
    leader_observer& operator=(leader_observer const&) = delete;
    /// @}

    /// Ends the operations that wait, with `operation_aborted`.
    ~leader_observer();

    /// Waits until the leader differs from the one that this observer reported last, and reports
    /// the newest leader. The first operation reports at once who leads. A new leader, another
    /// value of the same leader, and the end of the last leader are changes.
    ///
    /// An observer that was away, or did not ask for a while, reports only what is so now. Leaders
    /// that came and went meanwhile are left out. An observer never reports an older term than one
    /// that it reported: if the server has lost the newer term, it reports that nobody leads.
    ///
    /// Several operations may wait: each gets one change, in the order in which they were started.
    /// Connection losses and temporary refusals (see `errc::server_refused`) do not end the wait.
    /// Nothing is sent between announcements, except when the leader's lease would end unless it
    /// was renewed: then the observer looks whether it was. While no operation waits, nothing is
    /// sent.
    ///
    /// @par Completion     `void(error_code, leader_info)`
    /// Success with a term of zero: nobody leads.
    /// @par Cancellation   All types complete at once. No change is lost: the next operation
    /// reports the newest leader.
    /// @par Lifetimes      The observer may be moved meanwhile. Its destruction ends the wait.
    /// @par Errors
    /// `errc::not_held` if the observer was moved from; `errc::corrupt_state` if a key of the
    /// election holds something else; `errc::invalid_name`, `too_many_waiters`; `auth_failed`,
    /// `no_permission`, `tls_failed`, `unsupported_server`; `client_stopped`; `operation_aborted`.
    /// The observer can be used further.
    template <detail::token_for<void(error_code, leader_info)> Token = asio::deferred_t>
    [[nodiscard]] auto next(Token&& token = Token()) {
        return detail::initiate<Token, void(error_code, leader_info), &detail::start_next>(
            token,
            get_executor(),
            observes_
        );
    }

private:
    friend class election;
    explicit leader_observer(std::shared_ptr<detail::observation> observes) noexcept
        : observes_{std::move(observes)} {}

    std::shared_ptr<detail::observation> observes_;
};

}  // namespace holdfast

#endif
