#include "resp/socket_stream.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/socket_base.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <utility>

namespace holdfast::detail::resp {

namespace asio = boost::asio;

void socket_stream::async_connect(endpoint const& to, handler on_connected) {
    auto const family = to.protocol().family();
    bool const tcp = family == AF_INET || family == AF_INET6;
    socket_.async_connect(
        to,
        [this, tcp, on_connected = std::move(on_connected)](error_code ec) mutable {
            if (!ec) {
                ec = set_up(tcp);
            }
            std::move(on_connected)(ec);
        }
    );
}

error_code socket_stream::set_up(bool tcp) {
    error_code ec;
    // A UNIX socket whose listener has a full backlog reports success, and is not connected.
    static_cast<void>(socket_.remote_endpoint(ec));
    if (ec == asio::error::not_connected) {
        return asio::error::connection_refused;
    }
    if (!ec) {
        // Otherwise a write would block the thread while the kernel's buffer is full.
        socket_.non_blocking(true, ec);
    }
    if (!ec && tcp) {
        socket_.set_option(asio::ip::tcp::no_delay{true}, ec);
    }
    if (!ec && tcp) {
        socket_.set_option(asio::socket_base::keep_alive{true}, ec);
    }
#ifdef TCP_USER_TIMEOUT
    if (!ec && tcp) {
        // A failure is harmless: the connection has timeouts of its own.
        auto const limit = static_cast<unsigned>(unacknowledged_.count());
        static_cast<void>(::setsockopt(
            socket_.native_handle(),
            IPPROTO_TCP,
            TCP_USER_TIMEOUT,
            &limit,
            sizeof limit
        ));
    }
#endif
    return ec;
}

byte_stream::write_result socket_stream::write(std::string_view bytes) {
    error_code ec;
    auto const taken = socket_.write_some(asio::buffer(bytes.data(), bytes.size()), ec);
    if (ec == asio::error::would_block || ec == asio::error::try_again) {
        ec = {};
    }
    return {taken, !ec && taken < bytes.size(), ec};
}

void socket_stream::async_wait_writable(handler on_writable) {
    socket_.async_wait(socket::wait_write, std::move(on_writable));
}

void socket_stream::async_read_some(std::span<char> to, read_handler on_read) {
    socket_.async_read_some(asio::buffer(to.data(), to.size()), std::move(on_read));
}

void socket_stream::close() noexcept {
    error_code ignored;
    socket_.close(ignored);
}

}  // namespace holdfast::detail::resp
