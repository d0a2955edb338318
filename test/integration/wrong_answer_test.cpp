// A server that is not the one that takes writes any more. (Answers that nobody asked for:
// chaos/wire.)

#include "support/one_server.hpp"
#include "support/tcp_proxy.hpp"

using namespace holdfast::test;

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
