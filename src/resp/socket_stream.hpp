#ifndef HOLDFAST_RESP_SOCKET_STREAM_HPP
#define HOLDFAST_RESP_SOCKET_STREAM_HPP

#include "resp/byte_stream.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>

namespace holdfast::detail::resp {

/// A socket of TCP or a UNIX socket, without TLS.
class socket_stream : public byte_stream {
public:
    /// Over TCP, the kernel ends the connection if the peer acknowledges nothing for
    /// `unacknowledged`.
    socket_stream(boost::asio::any_io_executor strand, std::chrono::milliseconds unacknowledged)
        : socket_{strand},
          unacknowledged_{unacknowledged} {}

    void async_connect(endpoint const& to, handler on_connected) override;
    write_result write(std::string_view bytes) override;
    void async_wait_writable(handler on_writable) override;
    void async_read_some(std::span<char> to, read_handler on_read) override;
    void close() noexcept override;
    [[nodiscard]] bool taken_by_kernel() const noexcept override { return true; }

protected:
    using socket = boost::asio::generic::stream_protocol::socket;

    [[nodiscard]] socket& lowest_layer() noexcept { return socket_; }

private:
    [[nodiscard]] error_code set_up(bool tcp);

    socket socket_;
    std::chrono::milliseconds unacknowledged_;
};

}  // namespace holdfast::detail::resp

#endif
