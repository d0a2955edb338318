#ifndef HOLDFAST_TEST_SOAK_RESOURCE_HPP
#define HOLDFAST_TEST_SOAK_RESOURCE_HPP

#include "soak/cell_options.hpp"
#include "support/history/store.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <cstdint>
#include <string>

namespace holdfast::soak {

struct resource_options {
    std::string socket;
    std::string history;
};

/// Serves a `store` on a UNIX socket and writes every access down, until it is killed. Prints
/// "ready" when it listens.
///
/// A request is a line, `r LOCK TOKEN PROCESS OP` or `w LOCK TOKEN PROCESS OP VALUE UNGUARDED`, the
/// answer `ACCEPTED VALUE UNGUARDED`.
void serve_resource(resource_options const& options);

/// Who asks, and with which right.
struct access {
    std::int64_t lock;
    std::int64_t token;
    std::int64_t process;
    std::int64_t op;
};

/// A connection to that process, made at the first request. A request that is cancelled closes it.
/// Not thread-safe.
class resource_client {
public:
    resource_client(boost::asio::any_io_executor const& executor, std::string const& path)
        : socket_{executor},
          path_{path} {}

    boost::asio::awaitable<store::view> read(access by);
    boost::asio::awaitable<bool> write(access by, store::view seen);

private:
    boost::asio::awaitable<store::view> ask(std::string request);

    boost::asio::local::stream_protocol::socket socket_;
    std::string path_;
    std::string unread_;
};

}  // namespace holdfast::soak

#endif
