#ifndef HOLDFAST_CLI_SERVER_SESSION_HPP
#define HOLDFAST_CLI_SERVER_SESSION_HPP

#include "protocol/script.hpp"
#include "redis/redis_connection.hpp"
#include "redis/replies.hpp"
#include "redis/tls.hpp"
#include "runtime/runtime.hpp"

#include <holdfast/config.hpp>
#include <holdfast/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/redis/request.hpp>

#include <memory>
#include <string>
#include <vector>

namespace holdfast::cli {

/// What a server said of itself when it was logged in to.
struct greeting {
    std::string version;
    /// The first number of the version; zero: it was not said.
    int major = 0;
    /// `standalone`, `cluster` or `sentinel`.
    std::string mode;
    std::string role;

    [[nodiscard]] bool is_replica() const noexcept { return role == "replica" || role == "slave"; }
};

/// One connection to one server, for questions about the server itself. It carries no lock traffic,
/// so its replies need no nonces. When it breaks it stays broken.
///
/// Used on one thread. One question at a time.
class server_session {
public:
    /// What came of connecting and logging in.
    struct opening {
        /// Null if the server cannot be used.
        std::shared_ptr<server_session> session = {};
        error_code cause = {};
        /// The cause for a person to read, in the server's words if it said something. It never
        /// contains a password.
        std::string why = {};
    };

    /// Connects to the server that `host` and `port` or `unix_socket` name, and logs in. Takes no
    /// longer than `connect_timeout` and `request_timeout`.
    [[nodiscard]] static boost::asio::awaitable<opening> open(
        boost::asio::any_io_executor executor,
        std::shared_ptr<config const> settings,
        std::shared_ptr<detail::tls_trust> trust
    );

    server_session(
        boost::asio::any_io_executor executor,
        std::shared_ptr<config const> settings,
        detail::tls_trust& trust
    );
    server_session(server_session const&) = delete;
    server_session& operator=(server_session const&) = delete;
    ~server_session();

    /// Sends the commands of the request together. Returns their replies in order; that a server
    /// refuses a command is a reply, too.
    ///
    /// @throws boost::system::system_error if the connection has ended, or `request_timeout` has
    /// passed. It ends the connection.
    [[nodiscard]] boost::asio::awaitable<std::vector<detail::raw_reply>> ask(
        boost::redis::request const& what
    );

    [[nodiscard]] greeting const& server() const noexcept { return server_; }
    [[nodiscard]] config const& settings() const noexcept { return *settings_; }
    /// How it is spoken to of channels.
    [[nodiscard]] detail::script_dialect dialect() const noexcept;

    /// What the replies to HELLO, and to SELECT where that was sent, say. There may be fewer if the
    /// connection ended: `ended` says why then.
    struct verdict {
        greeting server = {};
        error_code cause = {};
        std::string why = {};
    };
    [[nodiscard]] static verdict judge(
        std::vector<detail::raw_reply> const& replies,
        std::size_t expected,
        error_code ended
    );

private:
    struct conversation;
    struct outcome {
        error_code ended;
        std::vector<detail::raw_reply> replies;
    };

    void start();
    [[nodiscard]] boost::asio::awaitable<outcome> exchange(
        boost::redis::request const& what,
        std::chrono::nanoseconds limit
    );

    std::shared_ptr<config const> settings_;
    std::shared_ptr<detail::redis_connection> connection_;
    detail::timer timeout_;
    // Why the connection ended. The connection's last handler may run after this is gone.
    std::shared_ptr<error_code> ended_ = std::make_shared<error_code>();
    greeting server_;
};

}  // namespace holdfast::cli

#endif
