// The connection that carries scripts is down. (How it breaks: chaos/wire.)

#include "support/one_server.hpp"
#include "support/tcp_proxy.hpp"

using namespace holdfast::test;

namespace {

// Only that connection asks the server for its time.
connection_selector command_connections() {
    return connections_that_sent("TIME");
}

}  // namespace

BOOST_AUTO_TEST_CASE(operations_end_in_time_while_the_command_connection_is_down) {
    with_proxy([](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        auto settings = short_leases(proxy.url(), 6s);  // request time-out: 1 s
        settings.reconnect_max = 200ms;
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        auto held = co_await client.lock("a").acquire();
        proxy.refuse_new(true);
        proxy.cut(cut_kind::rst, command_connections());
        BOOST_TEST(co_await co_eventually(1s, [&] { return held.state() == lease_state::in_doubt; })
        );

        auto start = lease_clock::now();
        auto [ec, nothing] = co_await client.lock("b").try_acquire(as_result);
        BOOST_TEST((ec == errc::unreachable));
        BOOST_TEST(!nothing);
        BOOST_TEST(((lease_clock::now() - start) >= 900ms));
        BOOST_TEST(((lease_clock::now() - start) < 1s + 500ms));

        // Two request time-outs, and then it goes on without its caller.
        auto const waiting = start_acquire(client.lock("b"));
        start = lease_clock::now();
        BOOST_TEST((co_await release(held) == errc::release_unknown));
        BOOST_TEST(((lease_clock::now() - start) >= 1900ms));
        BOOST_TEST(((lease_clock::now() - start) < 2s + 700ms));
        BOOST_TEST(!held);
        BOOST_TEST(!waiting->done);
        BOOST_TEST(probe.exists("a"));
        proxy.refuse_new(false);
        BOOST_TEST(co_await co_eventually(1s, [&] { return !probe.exists("a"); }));
        BOOST_TEST(co_await co_eventually(1s, [&] { return waiting->done; }));
        BOOST_TEST(waiting->held.valid());
    });
}
