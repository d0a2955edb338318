#ifndef HOLDFAST_TEST_SUPPORT_FOREIGN_CONNECTION_HPP
#define HOLDFAST_TEST_SUPPORT_FOREIGN_CONNECTION_HPP

#include "support/resp.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::test {

/// Where a foreign client finds its server, and who it is there.
struct foreign_server {
    std::string unix_socket;
    std::string user{};
    std::string password{};  // empty: it does not log in
};

/// A connection made of a plain Asio socket. It speaks RESP2, as Redisson does, and sends each
/// command as soon as it is given one. It is used on one executor, which has one thread or is a
/// strand.
///
/// It does not connect again: when it breaks, every command fails.
class foreign_connection {
public:
    using listener = std::function<void(redis_value const&)>;

    /// Connects, or throws `boost::system::system_error`. With a listener all that the server says
    /// goes there: replies cannot be told from notifications.
    foreign_connection(
        boost::asio::any_io_executor executor,
        foreign_server const& where,
        listener listens = {}
    );
    foreign_connection(foreign_connection const&) = delete;
    foreign_connection& operator=(foreign_connection const&) = delete;
    ~foreign_connection();

    /// The reply, which may be an error of the server's.
    [[nodiscard]] boost::asio::awaitable<redis_value> command(std::vector<std::string> const& words
    );

    /// Nobody waits for the reply.
    void send(std::vector<std::string> const& words);

    /// Every command fails from now on.
    void close();

private:
    struct state;
    // Shared with the operations on the socket.
    std::shared_ptr<state> state_;
};

}  // namespace holdfast::test

#endif
