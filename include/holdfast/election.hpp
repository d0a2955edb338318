#ifndef HOLDFAST_ELECTION_HPP
#define HOLDFAST_ELECTION_HPP

#include <holdfast/detail/acquire.hpp>
#include <holdfast/detail/client_operations.hpp>
#include <holdfast/detail/election_operations.hpp>
#include <holdfast/detail/initiation.hpp>
#include <holdfast/detail/token_for.hpp>
#include <holdfast/error.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/leader_info.hpp>
#include <holdfast/leader_observer.hpp>
#include <holdfast/leadership.hpp>
#include <holdfast/options.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {

/// Candidates, of which one leads at a time, and observers, which report the newest leader.
///
///     auto scheduler = client.election("scheduler");
///     auto leads = co_await scheduler.campaign("10.0.0.7:9000");
///     while (leads.valid()) {
///         co_await run_next_job(leads.term());
///     }
///
/// The leader of an election holds the lock of its name, `client.lock(name)`, and its term is the
/// fencing token of that grant. Beside the lock the server keeps what the last leader proclaimed.
/// It is written only for the holder of the lock, in one step with the check, so no term has two
/// leaders. It expires `config::fence_ttl` after the last change; a leader renews it.
///
/// Whoever takes the lock by other means keeps leaders away without being one. An operator can
/// depose a leader with `lock::force_release()`.
///
/// An election is a cheap value: a shared pointer to the client and a name. Making one does no I/O
/// and never fails; the operations report a wrong name. One that was moved from can only be
/// destroyed or assigned to.
///
/// @par Thread safety   Distinct objects: safe. Shared objects: safe, except moving and assignment.
class HOLDFAST_EXPORT election {
public:
    /// The type that `get_executor()` returns.
    using executor_type = asio::any_io_executor;

    /// The executor of the client: a handler that has no executor of its own is called there.
    [[nodiscard]] executor_type get_executor() const noexcept {
        return detail::executor_of(*client_);
    }

    /// The name that the election has on the server: prefix and name; empty if the name is wrong
    /// (see `errc::invalid_name`). Valid as long as a copy of the election exists.
    [[nodiscard]] std::string const& name() const noexcept { return detail::name_of(*keys_); }

    /// @{
    /// Waits until it leads, and proclaims a value, such as an address: any bytes, up to 64 KiB.
    ///
    /// The options must have no `owner`: who leads cannot lead once more.
    ///
    /// Candidates lead in the order of the lock's queue: those of one client in the order in which
    /// they came, and the clients in theirs. Connection losses and temporary refusals (see
    /// `errc::server_refused`) do not end the wait.
    ///
    /// The value is proclaimed when the lock has been granted. If the server does not take it, as
    /// one without memory, that is repeated for as long as `config::lease` says; then the lock is
    /// given back, and the campaign goes on. So it does if the lock is lost meanwhile. After a
    /// reconnection the leader sees to it that the server still has the value.
    ///
    /// @par Completion     `void(error_code, leadership)`
    /// On success the leadership is valid, observers are being told, and its term is greater than
    /// any before. On error it is empty.
    /// @par Renewal        That of `lock::acquire()`.
    /// @par Cancellation
    /// While it waits for the lock, that of `lock::acquire()`. While the value is being proclaimed,
    /// `terminal` and `partial` complete at once, and the lock is given back in the background;
    /// `total` alone waits for the answer and delivers the leadership.
    /// @par Lifetimes
    /// The election may be destroyed while the operation is outstanding. The context of the
    /// handler's executor must outlive the leadership, unless the context destroys that itself.
    /// @par Errors
    /// `errc::invalid_name`, `invalid_lease`; `invalid_options`, also for a value that is too long
    /// and for options with an `owner`; `too_many_waiters`; `corrupt_state`; `auth_failed`,
    /// `no_permission`, `tls_failed`, `unsupported_server`; `client_stopped`; `operation_aborted`.
    template <detail::token_for<void(error_code, leadership)> Token = asio::deferred_t>
    [[nodiscard]] auto campaign(std::string_view value, Token&& token = Token()) const {
        return campaign(value, acquire_options{}, std::forward<Token>(token));
    }

    /// The same, with options. They must have no `owner`: who leads cannot lead once more.
    ///
    /// @par Completion, cancellation, lifetimes, errors   As `campaign()`.
    template <detail::token_for<void(error_code, leadership)> Token = asio::deferred_t>
    [[nodiscard]] auto campaign(
        std::string_view value,
        acquire_options options,
        Token&& token = Token()
    ) const {
        return asio::async_initiate<Token, void(error_code, leadership)>(
            detail::acquire_initiation<detail::campaign_request>{
                {client_, keys_, options, std::string{value}}
            },
            token
        );
    }
    /// @}

    /// Asks the server who leads. The answer may be outdated when it arrives.
    ///
    /// @par Completion     `void(error_code, leader_info)`
    /// Success with a term of zero: nobody leads. The last leader has resigned, or died and its
    /// lease is over, and none has proclaimed its value since. "Could not ask" is an error.
    /// @par Cancellation   All types complete at once. The operation changes nothing.
    /// @par Lifetimes      The election may be destroyed meanwhile.
    /// @par Errors
    /// `errc::corrupt_state` if a key of the election holds something else; `errc::unreachable`,
    /// `errc::server_refused` if there is no answer within a request time-out;
    /// `errc::invalid_name`; `too_many_waiters`; the permanent causes; `errc::client_stopped`;
    /// `operation_aborted`.
    template <detail::token_for<void(error_code, leader_info)> Token = asio::deferred_t>
    [[nodiscard]] auto leader(Token&& token = Token()) const {
        return detail::
            initiate<Token, void(error_code, leader_info), &detail::start_ask_for_leader>(
                token,
                get_executor(),
                client_,
                keys_
            );
    }

    /// An observer of this election. It begins with its first `leader_observer::next()`; this sends
    /// nothing. A program may have several.
    ///
    /// @par Errors   None. `next()` reports a wrong name.
    leader_observer observe() const;

private:
    friend class client;
    election(std::shared_ptr<detail::client_state> client, std::string_view name);

    std::shared_ptr<detail::client_state> client_;
    std::shared_ptr<detail::election_keys const> keys_;
};

}  // namespace holdfast

#endif
