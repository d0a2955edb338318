#ifndef HOLDFAST_LATCH_HPP
#define HOLDFAST_LATCH_HPP

#include <holdfast/detail/counted_handle.hpp>
#include <holdfast/detail/token_for.hpp>
#include <holdfast/error.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {

/// A number that is counted down, and those who wait until it is zero; compatible with Redisson's
/// `RCountDownLatch`.
///
/// A latch that is not set is open: `wait()` completes at once. So it has to be set before somebody
/// waits. When it has been counted down to zero it is gone, and can be set again.
///
/// All waiters of a client share one subscription and one look at the server. One message lets
/// them all pass. They look again when a connection was made anew, and every
/// `config::fallback_poll_interval`, because a message may be lost.
///
/// The number stays on the server until it is counted down: it has no expiry.
///
/// A latch is a cheap value: a shared pointer to the client and a name. Making one does no I/O and
/// never fails; the operations report a wrong name. One that was moved from can only be destroyed
/// or assigned to.
///
/// @par Thread safety   Distinct objects: safe. Shared objects: safe, except moving and assignment.
class HOLDFAST_EXPORT latch : private detail::counted_handle {
public:
    /// The type that `get_executor()` returns.
    using executor_type = asio::any_io_executor;

    /// The executor of the client: a handler that has no executor of its own is called there.
    [[nodiscard]] executor_type get_executor() const noexcept { return executor(); }

    /// The name that the latch has on the server: prefix and name; empty if the name is wrong (see
    /// `errc::invalid_name`). Valid as long as a copy of the latch exists.
    [[nodiscard]] std::string const& name() const noexcept { return detail::name_of(*key()); }

    /// Waits until the latch is open. Connection losses and temporary refusals (see
    /// `errc::server_refused`) do not end the wait.
    ///
    /// @par Completion     `void(error_code)`
    /// Success: the latch was open after the operation had been started.
    /// @par Cancellation
    /// Waiting: all types complete at once. A look at the server in flight: `terminal` and
    /// `partial` complete at once; `total` alone waits for the answer. The operation changes
    /// nothing.
    /// @par Lifetimes      The latch may be destroyed while the operation is outstanding.
    /// @par Errors
    /// `errc::corrupt_state` if the key holds something else; `errc::invalid_name`,
    /// `too_many_waiters`; `auth_failed`, `no_permission`, `tls_failed`, `unsupported_server`;
    /// `client_stopped`; `operation_aborted`.
    template <detail::token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto wait(Token&& token = Token()) const {
        return await_number<Token>(1, token);
    }

    /// Looks once.
    ///
    /// @par Completion     `void(error_code, bool)`
    /// True if the latch is open. "Could not ask" is an error.
    /// @par Cancellation, lifetimes    As `wait()`.
    /// @par Errors
    /// As `wait()`, and `errc::unreachable` or `errc::server_refused` if no answer came within a
    /// request time-out.
    template <detail::token_for<void(error_code, bool)> Token = asio::deferred_t>
    [[nodiscard]] auto try_wait(Token&& token = Token()) const {
        return try_number<Token>(1, detail::patience::one_attempt, {}, token);
    }

    /// Waits until the latch is open, and no longer than `limit`; zero means one look.
    ///
    /// @par Completion     `void(error_code, bool)`
    /// True if the latch is open. False: the time is up, and since the operation began the answer
    /// was that it is not. An answer that is missing then is waited for as by
    /// `lock::try_acquire_for()`.
    /// @par Cancellation, lifetimes    As `wait()`.
    /// @par Errors
    /// As `wait()`; `errc::invalid_options` for a negative limit; if the time is up and the server
    /// did not answer, the cause: `errc::unreachable` or `errc::server_refused`.
    template <detail::token_for<void(error_code, bool)> Token = asio::deferred_t>
    [[nodiscard]] auto try_wait_for(std::chrono::nanoseconds limit, Token&& token = Token()) const {
        return try_number<Token>(1, detail::patience::limited, limit, token);
    }

    /// @{
    /// Counts down by `times`, no further than to zero. Nothing happens to a latch that is open.
    ///
    /// The request is repeated until it is answered, for as long as `config::lease` says. The
    /// server executes it once, however often it arrives.
    ///
    /// @par Completion     `void(error_code)`
    /// @par Cancellation   All types complete at once. The request goes on: it will count, if the
    /// server can be reached in time.
    /// @par Lifetimes      The latch may be destroyed meanwhile. The client should not: what was
    /// not answered before `client::shutdown()` may never be sent.
    /// @par Errors
    /// `errc::release_unknown`: it was sent and not answered in all that time, and may have
    /// counted. `errc::unreachable`, `errc::server_refused`: it did not count. So it is with
    /// `errc::corrupt_state` if the key holds something else; `errc::invalid_options` if `times` is
    /// less than 1, or not less than 2^53; `errc::invalid_name`, `too_many_waiters`; the permanent
    /// causes; `errc::client_stopped`. `operation_aborted` if it was cancelled.
    template <detail::token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto count_down(Token&& token = Token()) const {
        return count_down(1, std::forward<Token>(token));
    }

    template <detail::token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto count_down(std::int64_t times, Token&& token = Token()) const {
        return request<Token, void(error_code), &detail::start_count_down>(token, times);
    }
    /// @}

    /// Sets the number, unless there is one. It is repeated like `count_down()`. A latch that is
    /// set to zero is open, and cannot be set again until it is counted down once.
    ///
    /// @par Completion     `void(error_code, bool)`
    /// True if this operation has set it.
    /// @par Cancellation, lifetimes    As `count_down()`.
    /// @par Errors         As `count_down()`, with a `number` from 0.
    template <detail::token_for<void(error_code, bool)> Token = asio::deferred_t>
    [[nodiscard]] auto try_set(std::int64_t number, Token&& token = Token()) const {
        return request<Token, void(error_code, bool), &detail::start_try_set_number>(token, number);
    }

    /// Asks how often the latch has yet to be counted down; zero: it is open. The answer may be
    /// outdated when it arrives.
    ///
    /// @par Completion     `void(error_code, std::int64_t)`
    /// @par Cancellation   All types complete at once. The operation changes nothing.
    /// @par Lifetimes      The latch may be destroyed meanwhile.
    /// @par Errors
    /// `errc::corrupt_state` if the key holds something else; `errc::unreachable`,
    /// `errc::server_refused` if there is no answer within a request time-out;
    /// `errc::invalid_name`; the permanent causes; `errc::client_stopped`; `operation_aborted`.
    template <detail::token_for<void(error_code, std::int64_t)> Token = asio::deferred_t>
    [[nodiscard]] auto count(Token&& token = Token()) const {
        return request<Token, void(error_code, std::int64_t), &detail::start_read_number>(token);
    }

private:
    friend class client;
    latch(std::shared_ptr<detail::client_state> client, std::string_view name);
};

}  // namespace holdfast

#endif
