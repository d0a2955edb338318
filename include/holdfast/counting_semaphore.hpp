#ifndef HOLDFAST_COUNTING_SEMAPHORE_HPP
#define HOLDFAST_COUNTING_SEMAPHORE_HPP

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

/// A number of permits, of which some are taken and given back; compatible with Redisson's
/// `RSemaphore`.
///
/// **The permits of a program that crashed are gone.** Nobody knows who has a permit: there is no
/// lease, no owner, and nothing gives a permit back but `release()`. It is for semaphores that Java
/// programs share through `RSemaphore`, and for numbers that are not permits of somebody, such as
/// orders that may yet be taken.
///
/// The number stays on the server for ever: it has no expiry. A semaphore that was not set has no
/// permits.
///
/// Those who wait for the same number of permits in one client are served in order. Otherwise
/// whoever asks first after a release gets what there is. So one who waits for several permits may
/// wait for as long as others keep taking single ones.
///
/// A counting semaphore is a cheap value: a shared pointer to the client and a name. Making one
/// does no I/O and never fails; the operations report a wrong name. One that was moved from can
/// only be destroyed or assigned to.
///
/// @par Thread safety   Distinct objects: safe. Shared objects: safe, except moving and assignment.
class HOLDFAST_EXPORT counting_semaphore : private detail::counted_handle {
public:
    /// The type that `get_executor()` returns.
    using executor_type = asio::any_io_executor;

    /// The executor of the client: a handler that has no executor of its own is called there.
    [[nodiscard]] executor_type get_executor() const noexcept { return executor(); }

    /// The name that the semaphore has on the server: prefix and name; empty if the name is wrong
    /// (see `errc::invalid_name`). Valid as long as a copy of the semaphore exists.
    [[nodiscard]] std::string const& name() const noexcept { return detail::name_of(*key()); }

    /// @{
    /// Takes permits, waiting while there are too few. Connection losses and temporary refusals
    /// (see `errc::server_refused`) do not end the wait. An attempt whose answer was lost takes its
    /// permits once, however often it is repeated.
    ///
    /// @par Completion     `void(error_code)`
    /// Success: the caller has the permits, until it calls `release()`.
    /// @par Cancellation
    /// Waiting: all types complete at once and leave nothing behind. Attempt in flight: `terminal`
    /// and `partial` complete at once, and what the attempt takes is given back in the background;
    /// `total` alone waits for the answer, and the operation succeeds if permits were granted. A
    /// grant that was decided is always reported as success, whatever is cancelled then.
    /// @par Lifetimes      The semaphore may be destroyed while the operation is outstanding.
    /// @par Errors
    /// `errc::corrupt_state` if the key holds something else; `errc::invalid_options` if `permits`
    /// is less than 1 or more than 2^31 - 1; `errc::invalid_name`, `too_many_waiters`;
    /// `auth_failed`, `no_permission`, `tls_failed`, `unsupported_server`; `client_stopped`;
    /// `operation_aborted`.
    template <detail::token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto acquire(Token&& token = Token()) const {
        return await_number<Token>(1, token);
    }

    template <detail::token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto acquire(std::int64_t permits, Token&& token = Token()) const {
        return await_number<Token>(permits, token);
    }
    /// @}

    /// @{
    /// Takes permits if there are enough.
    ///
    /// @par Completion     `void(error_code, bool)`
    /// False: there are too few. "Could not ask" is an error.
    /// @par Cancellation, lifetimes    As `acquire()`.
    /// @par Errors
    /// As `acquire()`, and `errc::unreachable` or `errc::server_refused` if no answer came within a
    /// request time-out; `errc::not_replicated` if what was taken was given back because too few
    /// replicas confirmed it.
    template <detail::token_for<void(error_code, bool)> Token = asio::deferred_t>
    [[nodiscard]] auto try_acquire(Token&& token = Token()) const {
        return try_acquire(1, std::forward<Token>(token));
    }

    template <detail::token_for<void(error_code, bool)> Token = asio::deferred_t>
    [[nodiscard]] auto try_acquire(std::int64_t permits, Token&& token = Token()) const {
        return try_number<Token>(permits, detail::patience::one_attempt, {}, token);
    }
    /// @}

    /// @{
    /// Takes permits, waiting no longer than `limit`; zero means one attempt.
    ///
    /// @par Completion     `void(error_code, bool)`
    /// False: the time is up, and since the operation began the answer was that there are too few.
    /// An answer that is missing when the time is up is waited for as by `lock::try_acquire_for()`.
    /// @par Cancellation, lifetimes    As `acquire()`.
    /// @par Errors
    /// As `acquire()`; `errc::invalid_options` for a negative limit; if the time is up and the
    /// server did not answer, the cause: `errc::unreachable` or `errc::server_refused`.
    template <detail::token_for<void(error_code, bool)> Token = asio::deferred_t>
    [[nodiscard]] auto try_acquire_for(std::chrono::nanoseconds limit, Token&& token = Token())
        const {
        return try_acquire_for(limit, 1, std::forward<Token>(token));
    }

    template <detail::token_for<void(error_code, bool)> Token = asio::deferred_t>
    [[nodiscard]] auto try_acquire_for(
        std::chrono::nanoseconds limit,
        std::int64_t permits,
        Token&& token = Token()
    ) const {
        return try_number<Token>(permits, detail::patience::limited, limit, token);
    }
    /// @}

    /// @{
    /// Gives permits back, and wakes those who wait. Nobody checks that they were taken.
    ///
    /// The request is repeated until it is answered, for as long as `config::lease` says. The
    /// server executes it once, however often it arrives.
    ///
    /// @par Completion     `void(error_code)`
    /// @par Cancellation   All types complete at once. The request goes on.
    /// @par Lifetimes      The semaphore may be destroyed meanwhile. The client should not: what
    /// was not answered before `client::shutdown()` may never be sent.
    /// @par Errors
    /// `errc::release_unknown`: it was sent and not answered in all that time, and the permits may
    /// have been given back. `errc::unreachable`, `errc::server_refused`: they were not. So it is
    /// with `errc::corrupt_state` if the key holds something else; `errc::invalid_options` if
    /// `permits` is less than 1, or not less than 2^53; `errc::invalid_name`, `too_many_waiters`;
    /// the permanent causes; `errc::client_stopped`. `operation_aborted` if it was cancelled.
    template <detail::token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto release(Token&& token = Token()) const {
        return release(1, std::forward<Token>(token));
    }

    template <detail::token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto release(std::int64_t permits, Token&& token = Token()) const {
        return request<Token, void(error_code), &detail::start_release_permits>(token, permits);
    }
    /// @}

    /// Sets the number of permits, unless it is set. It is repeated like `release()`.
    ///
    /// @par Completion     `void(error_code, bool)`
    /// True if this operation has set it.
    /// @par Cancellation, lifetimes    As `release()`.
    /// @par Errors         As `release()`, with `permits` from 0.
    template <detail::token_for<void(error_code, bool)> Token = asio::deferred_t>
    [[nodiscard]] auto try_set_permits(std::int64_t permits, Token&& token = Token()) const {
        return request<Token, void(error_code, bool), &detail::start_try_set_number>(
            token,
            permits
        );
    }

    /// Adds permits; a negative number takes some away, also if that leaves less than none. It is
    /// repeated like `release()`.
    ///
    /// @par Completion     `void(error_code)`
    /// @par Cancellation, lifetimes    As `release()`.
    /// @par Errors         As `release()`, with `permits` between -2^53 and 2^53.
    template <detail::token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto add_permits(std::int64_t permits, Token&& token = Token()) const {
        return request<Token, void(error_code), &detail::start_add_permits>(token, permits);
    }

    /// Takes all permits that there are. If there are less than none, there are none then. It is
    /// repeated like `release()`.
    ///
    /// @par Completion     `void(error_code, std::int64_t)`
    /// How many there were.
    /// @par Cancellation, lifetimes, errors    As `release()`.
    template <detail::token_for<void(error_code, std::int64_t)> Token = asio::deferred_t>
    [[nodiscard]] auto drain(Token&& token = Token()) const {
        return request<Token, void(error_code, std::int64_t), &detail::start_drain_permits>(token);
    }

    /// Asks how many permits there are. The answer may be outdated when it arrives.
    ///
    /// @par Completion     `void(error_code, std::int64_t)`
    /// Less than zero if more were taken away than there were.
    /// @par Cancellation   All types complete at once. The operation changes nothing.
    /// @par Lifetimes      The semaphore may be destroyed meanwhile.
    /// @par Errors
    /// `errc::corrupt_state` if the key holds something else; `errc::unreachable`,
    /// `errc::server_refused` if there is no answer within a request time-out;
    /// `errc::invalid_name`; the permanent causes; `errc::client_stopped`; `operation_aborted`.
    template <detail::token_for<void(error_code, std::int64_t)> Token = asio::deferred_t>
    [[nodiscard]] auto available(Token&& token = Token()) const {
        return request<Token, void(error_code, std::int64_t), &detail::start_read_number>(token);
    }

private:
    friend class client;
    counting_semaphore(std::shared_ptr<detail::client_state> client, std::string_view name);
};

}  // namespace holdfast

#endif
