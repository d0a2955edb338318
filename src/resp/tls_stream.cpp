#include "resp/tls_stream.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/verify_mode.hpp>
#include <boost/asio/write.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <utility>

namespace holdfast::detail::resp {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;

namespace {

error_code take_openssl_error() {
    auto const code = ::ERR_get_error();
    ::ERR_clear_error();
    return code == 0 ? error_code{asio::error::no_memory}
                     : error_code{static_cast<int>(code), asio::error::get_ssl_category()};
}

bool is_address(std::string const& host) {
    error_code no_address;
    asio::ip::make_address(host, no_address);
    return !no_address;
}

// The certificate must name the host among its alternative names: a common name does not count.
bool expect_host(SSL* stream, std::string const& host) {
    if (is_address(host)) {
        return ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(stream), host.c_str()) == 1;
    }
    ::SSL_set_hostflags(
        stream,
        X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS
    );
    return ::SSL_set1_host(stream, host.c_str()) == 1;
}

// OpenSSL calls it for each message of the handshake.
void note_certificate_request(
    int written,
    int /*version*/,
    int content,
    void const* bytes,
    std::size_t size,
    SSL* /*stream*/,
    void* requested
) {
    if (written == 0 && content == SSL3_RT_HANDSHAKE && size > 0 &&
        *static_cast<unsigned char const*>(bytes) == SSL3_MT_CERTIFICATE_REQUEST) {
        *static_cast<bool*>(requested) = true;
    }
}

}  // namespace

tls_stream::tls_stream(
    asio::any_io_executor strand,
    std::chrono::milliseconds unacknowledged,
    std::shared_ptr<ssl::context> context,
    tls_peer peer
)
    : socket_stream{std::move(strand), unacknowledged},
      context_{std::move(context)},
      peer_{std::move(peer)} {
    // The dot that ends a full name belongs neither into a certificate nor into the handshake.
    if (peer_.host.ends_with('.')) {
        peer_.host.pop_back();
    }
}

void tls_stream::async_connect(endpoint const& to, handler on_connected) {
    socket_stream::async_connect(
        to,
        [this, on_connected = std::move(on_connected)](error_code ec) mutable {
            if (!ec) {
                ec = prepare();
            }
            if (ec) {
                std::move(on_connected)(ec);
            } else {
                handshake(std::move(on_connected));
            }
        }
    );
}

error_code tls_stream::prepare() {
    if (peer_.verify && peer_.host.empty()) {
        return asio::error::invalid_argument;  // OpenSSL would accept any name
    }
    ::ERR_clear_error();
    tls_.emplace(lowest_layer(), *context_);
    auto* const stream = tls_->native_handle();
    bool done = true;
    if (!is_address(peer_.host)) {
        done = SSL_set_tlsext_host_name(stream, peer_.host.c_str()) == 1;
    }
    if (peer_.verify) {
        done = done && expect_host(stream, peer_.host);
    }
    ::SSL_set_msg_callback(stream, &note_certificate_request);
    SSL_set_msg_callback_arg(stream, &certificate_requested_);
    return done ? error_code{} : take_openssl_error();
}

void tls_stream::handshake(handler on_connected) {
    tls_->async_handshake(
        ssl::stream_base::client,
        [this, on_connected = std::move(on_connected)](error_code ec) mutable {
            std::move(on_connected)(ec ? ec : check_certificate());
        }
    );
}

// A user's context may go on in spite of a certificate that was not accepted.
error_code tls_stream::check_certificate() {
    auto* const stream = tls_->native_handle();
    bool const accepted =
        ::SSL_get0_peer_certificate(stream) && ::SSL_get_verify_result(stream) == X509_V_OK;
    if (!peer_.verify || accepted) {
        return {};
    }
    return {
        static_cast<int>(ERR_PACK(ERR_LIB_SSL, 0, SSL_R_CERTIFICATE_VERIFY_FAILED)),
        asio::error::get_ssl_category()
    };
}

byte_stream::write_result tls_stream::write(std::string_view bytes) {
    taken_ = bytes;
    return {bytes.size(), true, {}};
}

void tls_stream::async_wait_writable(handler on_writable) {
    asio::async_write(
        *tls_,
        asio::buffer(taken_.data(), taken_.size()),
        [on_writable = std::move(on_writable)](error_code ec, std::size_t) mutable {
            std::move(on_writable)(ec);
        }
    );
}

void tls_stream::async_read_some(std::span<char> to, read_handler on_read) {
    tls_->async_read_some(asio::buffer(to.data(), to.size()), std::move(on_read));
}

}  // namespace holdfast::detail::resp
