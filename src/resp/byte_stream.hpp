#ifndef HOLDFAST_RESP_BYTE_STREAM_HPP
#define HOLDFAST_RESP_BYTE_STREAM_HPP

#include <holdfast/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace holdfast::detail::resp {

/// What carries the bytes of one connection: a socket, TLS, or a simulation of either. It serves
/// one connection and is not connected again.
///
/// All functions are called on the connection's strand. Handlers run there too, never inside the
/// call that they are passed to, and each keeps the stream alive.
class byte_stream {
public:
    using endpoint = boost::asio::generic::stream_protocol::endpoint;
    using handler = boost::asio::any_completion_handler<void(error_code)>;
    using read_handler = boost::asio::any_completion_handler<void(error_code, std::size_t)>;

    struct write_result {
        /// Bytes from the beginning that will not be passed again.
        std::size_t taken = 0;
        /// Nothing may be written before `async_wait_writable` completes.
        bool blocked = false;
        error_code error;
    };

    virtual ~byte_stream() = default;

    /// Connects, and completes the TLS handshake where there is one.
    virtual void async_connect(endpoint const& to, handler on_connected) = 0;
    /// Takes as many bytes as it can without waiting.
    ///
    /// A stream whose taken bytes are not the kernel's takes all bytes, and is blocked until they
    /// are written. So the bytes must live, unchanged, until it is writable again or its handlers
    /// have run.
    virtual write_result write(std::string_view bytes) = 0;
    /// Completes when `write` may be called again.
    virtual void async_wait_writable(handler on_writable) = 0;
    /// Reads one byte or more. One read is outstanding at most. `to` must live until the handler
    /// has run.
    virtual void async_read_some(std::span<char> to, read_handler on_read) = 0;
    /// Ends the stream at once, without a farewell. Handlers that have not run get an error.
    virtual void close() noexcept = 0;

    /// The kernel has the bytes that `write` took. The server never gets bytes that `write` did not
    /// take.
    [[nodiscard]] virtual bool taken_by_kernel() const noexcept = 0;
    /// The server asked for a certificate. TLS 1.3 reports what the server thinks of it after the
    /// handshake, instead of the first reply.
    [[nodiscard]] virtual bool certificate_requested() const noexcept { return false; }
};

}  // namespace holdfast::detail::resp

#endif
