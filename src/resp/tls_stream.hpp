#ifndef HOLDFAST_RESP_TLS_STREAM_HPP
#define HOLDFAST_RESP_TLS_STREAM_HPP

#include "resp/socket_stream.hpp"

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::detail::resp {

/// Whom a TLS connection leads to.
struct tls_peer {
    /// A name or an address. The certificate must be for it.
    std::string host;
    /// False: any certificate is accepted.
    bool verify = true;
};

/// TLS over a socket.
class tls_stream final : public socket_stream {
public:
    /// The context may belong to a user, and is not changed.
    tls_stream(
        boost::asio::any_io_executor strand,
        std::chrono::milliseconds unacknowledged,
        std::shared_ptr<boost::asio::ssl::context> context,
        tls_peer peer
    );

    void async_connect(endpoint const& to, handler on_connected) override;
    write_result write(std::string_view bytes) override;
    void async_wait_writable(handler on_writable) override;
    void async_read_some(std::span<char> to, read_handler on_read) override;
    [[nodiscard]] bool taken_by_kernel() const noexcept override { return false; }
    [[nodiscard]] bool certificate_requested() const noexcept override {
        return certificate_requested_;
    }

private:
    [[nodiscard]] error_code prepare();
    void handshake(handler on_connected);
    [[nodiscard]] error_code check_certificate();

    std::shared_ptr<boost::asio::ssl::context> context_;  // its callbacks are used by the stream
    tls_peer peer_;
    // Made in place: older versions of Asio lose memory when one is moved.
    std::optional<boost::asio::ssl::stream<socket&>> tls_;
    std::string_view taken_;
    bool certificate_requested_ = false;
};

}  // namespace holdfast::detail::resp

#endif
