#include "redis/endpoint.hpp"

#include "core/lease_terms.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>

namespace holdfast::detail {

boost::redis::config make_endpoint(config const& settings) {
    // No reply of ours comes near it; without a limit a broken server could fill the memory.
    constexpr std::size_t max_read_size = 16U << 20U;

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
    return endpoint;
}

std::string describe_endpoint(config const& settings) {
    if (!settings.sentinels.empty()) {
        return fmt::format("the primary \"{}\"", settings.primary_name);
    }
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
