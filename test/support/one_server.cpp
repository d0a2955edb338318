#include "support/one_server.hpp"

#include "support/tcp_proxy.hpp"

#include <utility>

namespace holdfast::test {

void with_server(
    server_options options,
    server_body const& body,
    std::chrono::milliseconds deadline
) {
    redis_server server{std::move(options)};
    run_with_deadline(
        [&](asio::any_io_executor executor) { return body(server, std::move(executor)); },
        deadline
    );
}

void with_server(server_body const& body, std::chrono::milliseconds deadline) {
    with_server({}, body, deadline);
}

void with_alice(std::string const& rights, server_body const& body) {
    with_server({.users = {"alice on >secret " + rights}}, body);
}

config as_alice(redis_server const& server, std::string const& password) {
    auto settings = parse_url(server.url());
    settings.username = "alice";
    settings.password = password;
    return settings;
}

void with_client(client_body const& body, std::chrono::milliseconds deadline) {
    auto const run = [&](redis_server& server, asio::any_io_executor executor) -> task {
        client connected{executor, server.url()};
        auto probe = server.probe();
        co_await connected.ready();
        co_await body(connected, probe);
    };
    with_server(run, deadline);
}

void with_proxy(proxy_body const& body, std::chrono::milliseconds deadline) {
    redis_server server;
    tcp_proxy proxy{server.unix_socket()};
    run_with_deadline(
        [&](asio::any_io_executor executor) { return body(server, proxy, std::move(executor)); },
        deadline
    );
}

}  // namespace holdfast::test
