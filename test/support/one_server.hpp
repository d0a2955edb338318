#ifndef HOLDFAST_TEST_SUPPORT_ONE_SERVER_HPP
#define HOLDFAST_TEST_SUPPORT_ONE_SERVER_HPP

// What most tests with a server begin with: the headers, the names, and the server itself.

#include "support/background.hpp"
#include "support/log_lines.hpp"
#include "support/redis_probe.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <functional>
#include <string>

namespace holdfast::test {

class tcp_proxy;

namespace asio = boost::asio;
using namespace std::chrono_literals;
using holdfast::acquire_options;
using holdfast::errc;
using holdfast::error_code;
using holdfast::lease_clock;
using holdfast::lease_state;
using holdfast::log_level;
using holdfast::loss_reason;

/// `auto [ec, lease] = co_await lock.acquire(as_result);`
inline constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

using task = asio::awaitable<void>;
using server_body = std::function<task(redis_server&, asio::any_io_executor)>;
using client_body = std::function<task(client&, redis_probe&)>;
using proxy_body = std::function<task(redis_server&, tcp_proxy&, asio::any_io_executor)>;

/// `BOOST_AUTO_TEST_CASE(name, *needs_tls())` is skipped where the server was built without TLS.
inline boost::unit_test::decorator::precondition needs_tls() {
    return boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
        return boost::test_tools::assertion_result{server_speaks_tls()};
    });
}

/// The same where the server is older than Redis 7.0, and has not what the test needs.
inline boost::unit_test::decorator::precondition needs_version_7() {
    return boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
        return boost::test_tools::assertion_result{server_major() >= 7};
    });
}

/// Runs a coroutine with a private server, as `run_with_deadline`.
void with_server(
    server_options options,
    server_body const& body,
    std::chrono::milliseconds deadline = hang_limit
);
void with_server(server_body const& body, std::chrono::milliseconds deadline = hang_limit);

/// The same with the user "alice", password "secret", who has these rights.
void with_alice(std::string const& rights, server_body const& body);
config as_alice(redis_server const& server, std::string const& password = "secret");

/// The same with a client that is connected.
void with_client(client_body const& body, std::chrono::milliseconds deadline = hang_limit);

/// The same with a proxy in front of the server.
void with_proxy(proxy_body const& body, std::chrono::milliseconds deadline = hang_limit);

}  // namespace holdfast::test

#endif
