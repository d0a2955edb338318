// Answers that nobody asked for, and a server that is not the one that takes writes.

#include "support/background.hpp"
#include "support/redis_probe.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"
#include "support/tcp_proxy.hpp"

#include <holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <string>

using namespace holdfast::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;

namespace {

// An answer to an EVALSHA, which begins with the nonce.
bool is_of_a_script(std::string const& reply) {
    return reply.starts_with("*");
}

}  // namespace

// Boost.Redis takes the error for the answer, and the answer for nobody's.
BOOST_AUTO_TEST_CASE(fault_17_an_error_is_inserted_before_the_answer) {
    redis_server server;
    std::atomic<bool> armed{true};  // used by the proxy's thread
    tcp_proxy proxy{server.unix_socket()};
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, short_leases(proxy.url(), 30s)};
        auto probe = server.probe();
        co_await client.ready();
        co_await warm_up(client);
        proxy.edit_replies([&](std::string reply) {
            bool const now = is_of_a_script(reply) && armed.exchange(false);
            return now ? "-ERR inserted\r\n" + reply : reply;
        });
        auto [ec, lease] =
            co_await client.lock("a").try_acquire(asio::as_tuple(asio::use_awaitable));
        proxy.edit_replies({});
        // Granted on the server: either the caller has the lease, or nobody keeps the lock.
        if (ec) {
            BOOST_TEST(!lease);
            BOOST_TEST(co_await co_eventually(10s, [&] { return !probe.exists("a"); }));
        } else {
            BOOST_TEST(lease.valid());
        }
        BOOST_TEST(!armed);
        auto const again = [&] { return client.stats().reconnects >= 1; };
        BOOST_TEST(co_await co_eventually(5s, again));
    });
}

BOOST_AUTO_TEST_CASE(fault_17_an_answer_is_inserted_while_nothing_is_asked) {
    redis_server server;
    std::atomic<bool> armed{true};  // used by the proxy's thread
    tcp_proxy proxy{server.unix_socket()};
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, short_leases(proxy.url(), 30s)};
        co_await client.ready();
        co_await warm_up(client);
        proxy.edit_replies([&](std::string reply) {
            bool const now = is_of_a_script(reply) && armed.exchange(false);
            return now ? reply + reply : reply;
        });
        auto first = co_await client.lock("a").acquire();
        BOOST_TEST(first.valid());
        BOOST_TEST(!armed);
        auto const again = [&] { return client.stats().reconnects >= 1; };
        BOOST_TEST(co_await co_eventually(5s, again));
        auto second = co_await client.lock("b").acquire();
        BOOST_TEST(first.valid());
        BOOST_TEST(second.valid());
    });
}

// A user who may not ask for the role learns from the first script that this is a replica.
BOOST_AUTO_TEST_CASE(fault_41_a_replica_is_not_asked_over_and_over) {
    redis_server server{{.users = {"app on >secret ~* &* +@all -role -info"}}};
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        auto probe = server.probe();
        probe.cmd("REPLICAOF", "127.0.0.1", "1");
        auto settings = short_leases(server.url(), 30s);
        settings.username = "app";
        settings.password = "secret";
        holdfast::client client{executor, settings};
        auto const waiting = start_acquire(client.lock("a"));
        BOOST_TEST(co_await co_eventually(5s, [&] { return client.stats().attempts >= 1; }));
        co_await sleep_for(3s);
        BOOST_TEST(!waiting->done);
        BOOST_TEST(client.stats().attempts <= 20U);
        // After a failover the same name may lead to the new primary.
        BOOST_TEST(client.stats().reconnects >= 1U);
        probe.cmd("REPLICAOF", "NO", "ONE");
        BOOST_TEST(co_await co_eventually(10s, [&] { return waiting->done; }));
        BOOST_TEST(!waiting->error);
    });
}
