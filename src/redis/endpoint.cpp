#include "redis/endpoint.hpp"

#include "core/lease_terms.hpp"

#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/verify_mode.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstddef>

namespace holdfast::detail {

namespace ssl = boost::asio::ssl;

boost::redis::config make_endpoint(config const& settings) {
    // No reply of ours comes near it; without a limit a broken server could fill the memory.
    constexpr std::size_t max_read_size = 16U << 20U;
    constexpr std::size_t read_size = 16U << 10U;

    boost::redis::config endpoint;
    endpoint.addr.host = settings.host;
    endpoint.addr.port = std::to_string(settings.port);
    endpoint.unix_socket = settings.unix_socket;
    endpoint.use_ssl = settings.tls.enabled;
    // Boost.Redis would send HELLO and AUTH together with whatever is queued, and only log what
    // comes back. The supervisor sends them itself and looks at the answer before anything else
    // goes out.
    endpoint.use_setup = true;
    endpoint.setup.clear();
    auto const connect = std::chrono::ceil<millis>(connect_timeout_of(settings));
    endpoint.resolve_timeout = connect;
    endpoint.connect_timeout = connect;
    endpoint.ssl_handshake_timeout = connect;
    endpoint.health_check_interval = std::chrono::ceil<millis>(health_check_interval_of(settings));
    endpoint.health_check_id = "holdfast";
    // One run, one connection.
    endpoint.reconnect_wait_interval = std::chrono::seconds{0};
    endpoint.max_read_size = max_read_size;
    endpoint.read_buffer_append_size = read_size;
    return endpoint;
}

namespace {

void show_certificate(ssl::context& context, tls_options const& settings) {
    // Without this OpenSSL would ask for the password of an encrypted key on the terminal.
    context.set_password_callback([&](std::size_t, ssl::context::password_purpose) {
        return settings.private_key_password;
    });
    context.use_certificate_chain_file(settings.certificate_file);
    context.use_private_key_file(settings.private_key_file, ssl::context::pem);
}

}  // namespace

ssl::context make_tls_context(config const& settings) {
    ssl::context context{ssl::context::tls_client};
    if (!settings.tls.enabled) {
        return context;
    }
    context.set_options(
        ssl::context::default_workarounds | ssl::context::no_sslv2 | ssl::context::no_sslv3 |
        ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1
    );
    if (!settings.tls.certificate_file.empty()) {
        show_certificate(context, settings.tls);
    }
    if (settings.tls.insecure_accept_any_certificate) {
        context.set_verify_mode(ssl::verify_none);
        return context;
    }
    if (settings.tls.ca_file.empty()) {
        context.set_default_verify_paths();
    } else {
        context.load_verify_file(settings.tls.ca_file);
    }
    context.set_verify_mode(ssl::verify_peer);
    // On the context, not on the stream: Boost.Redis makes a new stream for each connection.
    context.set_verify_callback(ssl::host_name_verification(
        settings.tls.host_name.empty() ? settings.host : settings.tls.host_name
    ));
    return context;
}

std::string describe_endpoint(config const& settings) {
    if (!settings.unix_socket.empty()) {
        return settings.unix_socket;
    }
    return fmt::format(
        "{}:{}{}",
        settings.host,
        settings.port,
        settings.tls.enabled ? " (TLS)" : ""
    );
}

}  // namespace holdfast::detail
