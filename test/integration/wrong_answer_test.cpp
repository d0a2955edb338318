// Answers that nobody asked for, and a server that is not the one that takes writes.

#include "support/one_server.hpp"
#include "support/tcp_proxy.hpp"

#include <atomic>
#include <string>

using namespace holdfast::test;

namespace {

// An answer to an EVALSHA, which begins with the nonce.
bool is_of_a_script(std::string const& reply) {
    return reply.starts_with('$');
}

}  // namespace

// Boost.Redis takes the error for the reply, and the reply for one that nobody asked for.
BOOST_AUTO_TEST_CASE(an_error_is_inserted_before_the_answer) {
    std::atomic<bool> armed{true};  // used by the proxy's thread
    with_proxy([&](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, short_leases(proxy.url(), 30s)};
        auto probe = server.probe();
        co_await client.ready();
        co_await warm_up(client);
        proxy.edit_replies([&](std::string reply) {
            bool const now = is_of_a_script(reply) && armed.exchange(false);
            return now ? "-ERR inserted\r\n" + reply : reply;
        });
        auto [ec, lease] = co_await client.lock("a").try_acquire(as_result);
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

BOOST_AUTO_TEST_CASE(an_answer_is_inserted_while_nothing_is_asked) {
    std::atomic<bool> armed{true};  // used by the proxy's thread
    with_proxy([&](redis_server&, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
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

// The client is connected when the server becomes a replica: the first script tells. It reconnects,
// because after a failover the same name may lead to the new primary.
BOOST_AUTO_TEST_CASE(a_server_that_becomes_a_replica_is_left) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, short_leases(server.url(), 30s)};
        co_await warm_up(client);
        auto probe = server.probe();
        probe.cmd("REPLICAOF", "127.0.0.1", "1");
        auto const waiting = start_acquire(client.lock("a"));
        BOOST_TEST(co_await co_eventually(5s, [&] { return client.stats().attempts >= 2; }));
        co_await sleep_for(3s);
        BOOST_TEST(!waiting->done);
        BOOST_TEST(client.stats().attempts <= 20U);
        probe.cmd("REPLICAOF", "NO", "ONE");
        BOOST_TEST(co_await co_eventually(10s, [&] { return waiting->done; }));
        BOOST_TEST(!waiting->error);
        BOOST_TEST(client.stats().reconnects >= 1U);
    });
}
