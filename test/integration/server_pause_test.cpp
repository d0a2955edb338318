// The server stops answering and goes on later. (For longer than a lease: server_stopped_test.cpp.)

#include "support/one_server.hpp"

using namespace holdfast::test;

BOOST_AUTO_TEST_CASE(a_short_stop_of_the_server_costs_no_lease) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = short_leases(server.url(), 6s);  // request time-out: 1 s
        settings.health_check_interval = 2s;
        holdfast::client client{executor, settings};
        auto held = co_await client.lock("a").acquire();
        auto const lost = watch(held);
        co_await warm_up(client);

        server.pause();
        auto const waiting = start_acquire(client.lock("b"));
        error_code renewed = asio::error::would_block;
        held.renew([&renewed](error_code ec) { renewed = ec; });
        co_await sleep_for(300ms);
        BOOST_TEST(!waiting->done);
        BOOST_TEST((held.state() == lease_state::held));
        server.resume();

        BOOST_TEST(co_await co_eventually(500ms, [&] { return waiting->done; }));
        BOOST_TEST(waiting->held.valid());
        BOOST_TEST(co_await co_eventually(500ms, [&] { return !renewed; }));
        BOOST_TEST((held.state() == lease_state::held));
        BOOST_TEST(!lost->told);
        BOOST_TEST(client.stats().failed_renewals == 0U);
        BOOST_TEST(client.stats().reconnects == 0U);
        BOOST_TEST(client.stats().attempts == 3U);
        BOOST_TEST(!co_await release(held));
    });
}

BOOST_AUTO_TEST_CASE(writes_are_paused_for_less_than_a_lease) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        // A request time-out of 1 s, and a renewal every 2 s: one of them meets the pause for
        // longer than that.
        auto settings = short_leases(server.url(), 6s);
        settings.loss_margin = 0.1;
        holdfast::client client{executor, settings};
        auto held = co_await client.lock("a").acquire();
        auto const lost = watch(held);
        auto probe = server.probe();
        probe.cmd("CLIENT", "PAUSE", 3200, "WRITE");
        // The health check sees nothing of it.
        BOOST_TEST(probe.cmd("PING").text == "PONG");
        auto const doubted = [&] { return held.state() == lease_state::in_doubt; };
        BOOST_TEST(co_await co_eventually(3500ms, doubted));
        BOOST_TEST(held.valid());
        BOOST_TEST(co_await co_eventually(4s, [&] { return held.state() == lease_state::held; }));
        BOOST_TEST(!lost->told);
        BOOST_TEST(!co_await release(held));
        BOOST_TEST(co_await co_eventually(2s, [&] { return !probe.exists("a"); }));
    });
}

BOOST_AUTO_TEST_CASE(writes_are_paused_for_longer_than_a_lease) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, short_leases(server.url(), 2s)};
        holdfast::client other{executor, short_leases(server.url(), 2s)};
        auto held = co_await client.lock("a").acquire();
        auto const lost = watch(held);
        auto probe = server.probe();
        auto const waiting = start_acquire(other.lock("a"), {}, &held);
        co_await sleep_for(200ms);

        probe.cmd("CLIENT", "PAUSE", 5000, "WRITE");
        BOOST_REQUIRE(co_await co_eventually(4s, [&] { return lost->told; }));
        BOOST_TEST((lost->reason == loss_reason::unreachable));
        BOOST_TEST((lost->at < held.deadline()));
        BOOST_TEST(!held.valid());
        BOOST_TEST(!waiting->done);

        // What was sent during the pause is carried out at its end, and does no harm for longer
        // than a lease.
        BOOST_REQUIRE(co_await co_eventually(5s + 2s + 1s, [&] { return waiting->done; }));
        BOOST_TEST(waiting->held.valid());
        BOOST_TEST(!waiting->rival_was_valid);
        BOOST_TEST(waiting->held.token().value > held.token().value);
        BOOST_TEST((co_await release(held) == errc::lease_lost));
        BOOST_TEST(waiting->held.valid());
        BOOST_TEST(probe.exists("a"));
        BOOST_TEST(!co_await release(waiting->held));
        BOOST_TEST(!probe.exists("a"));
    });
}
