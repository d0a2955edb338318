#ifndef HOLDFAST_CLIENT_HPP
#define HOLDFAST_CLIENT_HPP

#include <holdfast/client_status.hpp>
#include <holdfast/config.hpp>
#include <holdfast/counting_semaphore.hpp>
#include <holdfast/detail/asio_abi.hpp>
#include <holdfast/detail/backend_source.hpp>
#include <holdfast/detail/client_operations.hpp>
#include <holdfast/detail/fmt.hpp>
#include <holdfast/detail/initiation.hpp>
#include <holdfast/detail/token_for.hpp>
#include <holdfast/election.hpp>
#include <holdfast/error.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fair_lock.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/lock_name.hpp>
#include <holdfast/read_write_lock.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/stats.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/execution_context.hpp>

#include <chrono>
#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {

/// The connections to one Redis or Valkey server, and everything that its locks share.
///
/// A client connects when it is constructed, and again whenever a connection breaks. Like an open
/// socket, it keeps `io_context::run()` busy until it is destroyed or `shutdown()` has completed:
/// create it inside the main coroutine.
///
/// Leases should be destroyed before their client. A lease that outlives its client becomes `lost`
/// (`loss_reason::client_stopped`), and its lock is released.
///
/// @par Thread safety   Distinct objects: safe. Shared objects: safe, except moving, assignment and
/// destruction.
class HOLDFAST_EXPORT client {
public:
    /// @{
    /// Takes an executor, or an execution context such as `io_context` or `thread_pool`; and
    /// settings or a URL (see `parse_url()`).
    ///
    /// The client works on a strand of that executor. A handler that has no executor of its own is
    /// called on that executor.
    ///
    /// @throws std::invalid_argument naming the member of `settings` or the part of `url` that is
    /// wrong, or a file for TLS that cannot be read. Nothing has been sent then.
    /// @throws std::system_error if the system provides no random bits.
    client(asio::any_io_executor executor, config settings)
        : client{std::move(executor), std::move(settings), detail::asio_abi_here{}} {}

    client(asio::any_io_executor executor, std::string_view url)
        : client{std::move(executor), parse_url(url)} {}

    template <class Context, class Settings>
        requires std::convertible_to<Context&, asio::execution_context&>
    client(Context& context, Settings&& settings)
        : client(asio::any_io_executor(context.get_executor()), std::forward<Settings>(settings)) {}
    /// @}

    /// @{
    /// A client of a server in memory, a `testing::memory_server`, for tests of your own code. Of
    /// `settings`, the addresses and all that is for connections mean nothing then. The server may
    /// be destroyed before the client.
    ///
    /// @throws std::invalid_argument naming the member of `settings` that is wrong.
    /// @throws std::system_error if the system provides no random bits.
    client(asio::any_io_executor executor, detail::backend_source& server, config settings = {})
        : client{std::move(executor), server, std::move(settings), detail::asio_abi_here{}} {}

    template <class Context>
        requires std::convertible_to<Context&, asio::execution_context&>
    client(Context& context, detail::backend_source& server, config settings)
        : client(asio::any_io_executor(context.get_executor()), server, std::move(settings)) {}
    /// @}

    /// @{
    /// A client can be moved, not copied. A client that was moved from can only be destroyed or
    /// assigned to. Assignment first shuts the old client down in the background, as the destructor
    /// does.
    client(client&&) noexcept = default;
    client& operator=(client&& other) noexcept;
    client(client const&) = delete;
    client& operator=(client const&) = delete;
    /// @}

    /// Shuts the client down in the background, see `shutdown()`. Does not wait.
    ~client();

    /// A lock by its name: 1 to 512 bytes of any value, including the key prefix. Sends nothing.
    /// See `lock_name` for the names that are not allowed.
    ///
    /// @par Errors   None. The operations of the lock report a wrong name.
    [[nodiscard]] holdfast::lock lock(lock_name name) const;

    /// A lock whose name is formatted with fmt: `client.lock("stock:{}:{}", warehouse, sku)`.
    ///
    /// @throws fmt::format_error for errors that cannot be detected at compile time, such as a
    /// negative width that is an argument.
    template <class Arg, class... Args>
    [[nodiscard]] holdfast::lock lock(
        fmt::format_string<Arg, Args...> format,
        Arg&& arg,
        Args&&... args
    ) const {
        return lock(
            detail::format_name(detail::text_of(format), fmt::make_format_args(arg, args...))
        );
    }

    /// @{
    /// The same for a fair lock.
    ///
    /// @par Errors   `fmt::format_error`, as for a lock. The operations report a wrong name.
    [[nodiscard]] holdfast::fair_lock fair_lock(lock_name name) const;

    template <class Arg, class... Args>
    [[nodiscard]] holdfast::fair_lock fair_lock(
        fmt::format_string<Arg, Args...> format,
        Arg&& arg,
        Args&&... args
    ) const {
        return fair_lock(
            detail::format_name(detail::text_of(format), fmt::make_format_args(arg, args...))
        );
    }
    /// @}

    /// @{
    /// The same for a read/write lock.
    ///
    /// @par Errors   `fmt::format_error`, as for a lock. The operations report a wrong name.
    [[nodiscard]] holdfast::read_write_lock read_write_lock(lock_name name) const;

    template <class Arg, class... Args>
    [[nodiscard]] holdfast::read_write_lock read_write_lock(
        fmt::format_string<Arg, Args...> format,
        Arg&& arg,
        Args&&... args
    ) const {
        return read_write_lock(
            detail::format_name(detail::text_of(format), fmt::make_format_args(arg, args...))
        );
    }
    /// @}

    /// @{
    /// The same for a latch.
    ///
    /// @par Errors   `fmt::format_error`, as for a lock. The operations report a wrong name.
    [[nodiscard]] holdfast::latch latch(lock_name name) const;

    template <class Arg, class... Args>
    [[nodiscard]] holdfast::latch latch(
        fmt::format_string<Arg, Args...> format,
        Arg&& arg,
        Args&&... args
    ) const {
        return latch(
            detail::format_name(detail::text_of(format), fmt::make_format_args(arg, args...))
        );
    }
    /// @}

    /// @{
    /// The same for a semaphore.
    ///
    /// @par Errors   `fmt::format_error`, as for a lock. The operations report a wrong name.
    [[nodiscard]] holdfast::semaphore semaphore(lock_name name) const;

    template <class Arg, class... Args>
    [[nodiscard]] holdfast::semaphore semaphore(
        fmt::format_string<Arg, Args...> format,
        Arg&& arg,
        Args&&... args
    ) const {
        return semaphore(
            detail::format_name(detail::text_of(format), fmt::make_format_args(arg, args...))
        );
    }
    /// @}

    /// @{
    /// The same for a counting semaphore.
    ///
    /// @par Errors   `fmt::format_error`, as for a lock. The operations report a wrong name.
    [[nodiscard]] holdfast::counting_semaphore counting_semaphore(lock_name name) const;

    template <class Arg, class... Args>
    [[nodiscard]] holdfast::counting_semaphore counting_semaphore(
        fmt::format_string<Arg, Args...> format,
        Arg&& arg,
        Args&&... args
    ) const {
        return counting_semaphore(
            detail::format_name(detail::text_of(format), fmt::make_format_args(arg, args...))
        );
    }
    /// @}

    /// @{
    /// The same for an election.
    ///
    /// @par Errors   `fmt::format_error`, as for a lock. The operations report a wrong name.
    [[nodiscard]] holdfast::election election(lock_name name) const;

    template <class Arg, class... Args>
    [[nodiscard]] holdfast::election election(
        fmt::format_string<Arg, Args...> format,
        Arg&& arg,
        Args&&... args
    ) const {
        return election(
            detail::format_name(detail::text_of(format), fmt::make_format_args(arg, args...))
        );
    }
    /// @}

    /// Waits until both connections are up and have been checked. Other operations do not need it.
    /// If the server cannot be reached, the wait goes on. If you cancel it, for example with
    /// `asio::cancel_after`, `status()` says why the client is not connected.
    ///
    /// Of a Redis Cluster: until each slot has a primary, and one of them can be used. The others
    /// are connected to when they are needed.
    ///
    /// @par Completion     `void(error_code)`
    /// @par Cancellation   All types complete at once. The client is not affected.
    /// @par Lifetimes      The client may be moved meanwhile. Its destruction ends the wait.
    /// @par Errors
    /// `errc::auth_failed`, `errc::no_permission`, `errc::tls_failed`, `errc::unsupported_server`;
    /// `errc::client_stopped`; `operation_aborted`.
    template <detail::token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto ready(Token&& token = Token()) const {
        return detail::initiate<Token, void(error_code), &detail::start_ready>(
            token,
            get_executor(),
            state_
        );
    }

    /// Stops the client: waiting operations complete with `errc::client_stopped`, leases become
    /// lost and are released, and the connections are closed. This takes `config::shutdown_timeout`
    /// at most. Later calls wait for the first one.
    ///
    /// @par Completion     `void(error_code)`
    /// Success: this client has left nothing on the server except token counters.
    /// @par Cancellation   All types complete at once. The shutdown goes on.
    /// @par Lifetimes      The client may be moved or destroyed meanwhile.
    /// @par Errors         `errc::release_unknown`: a release was not answered;
    /// `operation_aborted`.
    template <detail::token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto shutdown(Token&& token = Token()) {
        return detail::initiate<Token, void(error_code), &detail::start_shutdown>(
            token,
            get_executor(),
            state_
        );
    }

    /// Lets the holders finish, then shuts down. Acquisitions that wait, and new ones, end with
    /// `errc::client_stopped` at once. Leases are renewed until they are released, or until `limit`
    /// is over.
    ///
    /// @par Completion     `void(error_code)`
    /// As `shutdown()`. Leases that were not released within `limit` are lost.
    /// @par Cancellation   All types complete at once. The draining and the shutdown go on.
    /// @par Lifetimes, errors    As `shutdown()`.
    template <detail::token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto drain(std::chrono::nanoseconds limit, Token&& token = Token()) {
        return detail::initiate<Token, void(error_code), &detail::start_drain>(
            token,
            get_executor(),
            state_,
            limit
        );
    }

    /// What `lock_info::holder` of this client's leases begins with; a colon and a number follow.
    /// Another one for each client.
    ///
    /// @par Errors   None.
    [[nodiscard]] std::string const& id() const noexcept;

    /// The current values of the counters. They are read one after the other, not at one instant.
    ///
    /// @par Errors   None.
    [[nodiscard]] holdfast::stats stats() const;

    /// Whether the client is connected, since when, and why it was not. For a health check.
    ///
    /// @par Errors   None.
    [[nodiscard]] client_status status() const;

    /// The type that `get_executor()` returns.
    using executor_type = asio::any_io_executor;

    /// The executor given to the constructor.
    [[nodiscard]] executor_type get_executor() const noexcept;

private:
    friend struct client_access;
    client(asio::any_io_executor executor, config settings, detail::asio_abi_here);
    client(
        asio::any_io_executor executor,
        detail::backend_source& server,
        config settings,
        detail::asio_abi_here
    );
    explicit client(std::shared_ptr<detail::client_state> state) noexcept
        : state_{std::move(state)} {}

    std::shared_ptr<detail::client_state> state_;
};

}  // namespace holdfast

#endif
