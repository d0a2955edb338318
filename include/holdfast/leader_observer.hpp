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

/// The leaders of an election, one after the other. See `election::observe()`.
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

    /// Waits for the next change. The first one comes at once: who leads, or that nobody does. The
    /// following ones are new leaders, further values that a leader proclaims, and that nobody
    /// leads any more; each once and in order. What happened since the last call is read from the
    /// history that the server keeps, also after the connection was away. If some of it is not kept
    /// any more, `leader_change::missed` says so.
    ///
    /// That nobody leads is told if it is so when the observer looks. It is not told in the middle
    /// of what has been missed for a while, nor if the next candidate leads at once.
    ///
    /// Several operations may wait: each gets one change, in the order in which they were started.
    /// Connection losses and temporary refusals (see `errc::server_refused`) do not end the wait.
    /// Nothing is sent between announcements, except when the leader's lease would end unless it
    /// was renewed: then the observer looks whether it was. While no operation waits, nothing is
    /// sent.
    ///
    /// @par Completion     `void(error_code, leader_change)`
    /// @par Cancellation   All types complete at once. No change is lost: the next operation gets
    /// it.
    /// @par Lifetimes      The observer may be moved meanwhile. Its destruction ends the wait.
    /// @par Errors
    /// `errc::not_held` if the observer was moved from; `errc::corrupt_state` if a key of the
    /// election holds something else; `errc::invalid_name`, `too_many_waiters`; `auth_failed`,
    /// `no_permission`, `tls_failed`, `unsupported_server`; `client_stopped`; `operation_aborted`.
    /// The observer can be used further: the next operation goes on where the last one was.
    template <detail::token_for<void(error_code, leader_change)> Token = asio::deferred_t>
    [[nodiscard]] auto next(Token&& token = Token()) {
        return detail::initiate<Token, void(error_code, leader_change), &detail::start_next>(
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
