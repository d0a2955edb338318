#ifndef HOLDFAST_CLIENT_HPP
#define HOLDFAST_CLIENT_HPP

#include <holdfast/config.hpp>
#include <holdfast/error.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fwd.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/stats.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/execution_context.hpp>

#include <fmt/core.h>

#include <concepts>
#include <memory>
#include <string_view>
#include <utility>

namespace holdfast {

namespace detail {

HOLDFAST_EXPORT void start_ready(std::shared_ptr<client_state> client, plain_handler handler);
HOLDFAST_EXPORT void start_shutdown(std::shared_ptr<client_state> client, plain_handler handler);

template <auto Start>
struct client_initiation {
    std::shared_ptr<client_state> client;

    using executor_type = asio::any_io_executor;
    [[nodiscard]] executor_type get_executor() const noexcept { return executor_of(*client); }

    template <class Handler>
    void operator()(Handler&& handler) && {
        Start(std::move(client), std::forward<Handler>(handler));
    }
};

}  // namespace detail

/// The connections to one Redis or Valkey server, and all that its locks share.
///
/// It connects by itself when it is constructed, and again whenever a connection breaks. Like an
/// open socket it keeps `io_context::run()` busy until it is destroyed or `shutdown()` has
/// completed: make it inside the main coroutine.
///
/// Leases should be gone before their client. Those that are not become `lost`
/// (`loss_reason::client_stopped`), and their locks are freed.
///
/// @par Thread safety   Distinct objects: safe. Shared objects: safe, except moving, assignment and
/// destruction.
class HOLDFAST_EXPORT client {
public:
    /// @{
    /// Takes settings or a URL (see `parse_url()`), and an executor or what has one: an
    /// `io_context`, a `thread_pool`, …
    ///
    /// The client works on a strand of that executor. A handler without an executor of its own is
    /// called on it.
    ///
    /// @throws std::invalid_argument naming the member of `settings` or the part of `url` that is
    /// wrong; nothing has been sent then.
    /// @throws std::system_error if the system has no random bits to give.
    client(asio::any_io_executor executor, config settings);

    client(asio::any_io_executor executor, std::string_view url);

    template <class Context, class Settings>
        requires std::convertible_to<Context&, asio::execution_context&>
    client(Context& context, Settings&& settings)
        : client(asio::any_io_executor(context.get_executor()), std::forward<Settings>(settings)) {}
    /// @}

    /// @{
    /// Can be moved, not copied. One that was moved from can only be destroyed or assigned to. One
    /// that is assigned to is shut down first, as by its destructor.
    client(client&&) noexcept = default;
    client& operator=(client&& other) noexcept;
    client(client const&) = delete;
    client& operator=(client const&) = delete;
    /// @}

    /// As `shutdown()`, in the background: waits for nothing.
    ~client();

    /// A lock by its name: 1 to 512 bytes, the key prefix included; any bytes will do. Braces are
    /// not special. Sends nothing.
    ///
    /// @par Errors   None: the operations of the lock report a wrong name.
    [[nodiscard]] holdfast::lock lock(std::string_view name) const;

    /// A lock whose name is made with fmt: `client.lock("stock:{}:{}", warehouse, sku)`.
    ///
    /// @throws fmt::format_error for what cannot be checked at compile time, such as a negative
    /// width that is an argument.
    template <class Arg, class... Args>
    [[nodiscard]] holdfast::lock lock(
        fmt::format_string<Arg, Args...> format,
        Arg&& arg,
        Args&&... args
    ) const {
        return lock(std::string_view{
            fmt::format(format, std::forward<Arg>(arg), std::forward<Args>(args)...)
        });
    }

    /// Waits until both connections are up and have been checked. Not needed before other
    /// operations. A server that cannot be reached is waited for.
    ///
    /// @par Completion     `void(error_code)`
    /// @par Cancellation   All types complete at once; it only watches.
    /// @par Lifetimes      The client may be moved meanwhile; its destruction ends the wait.
    /// @par Errors
    /// `errc::auth_failed`, `errc::no_permission`, `errc::tls_failed`, `errc::unsupported_server`;
    /// `errc::client_stopped`; `operation_aborted`.
    template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto ready(Token&& token = Token()) const {
        return asio::async_initiate<Token, void(error_code)>(
            detail::client_initiation<&detail::start_ready>{state_},
            token
        );
    }

    /// Ends everything: waiting operations complete with `errc::client_stopped`, leases become lost
    /// and are released, and the connections are closed. Takes `config::shutdown_timeout` at most.
    /// May be called again; later calls wait for the first.
    ///
    /// @par Completion     `void(error_code)`
    /// Success: nothing of ours is left on the server but token counters.
    /// @par Cancellation   All types complete at once; the shutdown goes on.
    /// @par Lifetimes      The client may be moved or destroyed meanwhile.
    /// @par Errors         `errc::release_unknown`: some release was not answered;
    /// `operation_aborted`.
    template <asio::completion_token_for<void(error_code)> Token = asio::deferred_t>
    [[nodiscard]] auto shutdown(Token&& token = Token()) {
        return asio::async_initiate<Token, void(error_code)>(
            detail::client_initiation<&detail::start_shutdown>{state_},
            token
        );
    }

    /// A snapshot of the counters, which are read one after the other.
    ///
    /// @par Errors   None.
    [[nodiscard]] holdfast::stats stats() const;

    /// The executor given to the constructor.
    [[nodiscard]] asio::any_io_executor get_executor() const noexcept;

private:
    friend struct client_access;
    explicit client(std::shared_ptr<detail::client_state> state) noexcept
        : state_{std::move(state)} {}

    std::shared_ptr<detail::client_state> state_;
};

}  // namespace holdfast

#endif
