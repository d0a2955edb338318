// The connection that carries notifications dies: what was published in the gap must not be missed.

#include "support/one_server.hpp"
#include "support/tcp_proxy.hpp"

#include <algorithm>

using namespace holdfast::test;

namespace {

constexpr auto channel_of_a = "redisson_lock__channel:{a}";

// No timer helps: neither the holder's lease nor the fallback poll interval ends within the test.
holdfast::config only_notifications(std::string const& url) {
    auto settings = holdfast::parse_url(url);
    settings.lease = 1h;
    settings.fallback_poll_interval = 1h;
    settings.request_timeout = 2s;
    settings.reconnect_max = 100ms;
    return settings;
}

connection_selector subscription_connection(tcp_proxy const& proxy) {
    auto const sent = proxy.commands(connection_number(1));
    auto const subscribes = [](std::string const& command) {
        return command.starts_with("SUBSCRIBE");
    };
    return connection_number(std::any_of(sent.begin(), sent.end(), subscribes) ? 1 : 2);
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_subscriber_connection_dies) {
    with_proxy([](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        holdfast::client holder{executor, only_notifications(server.url())};
        holdfast::client client{executor, only_notifications(proxy.url())};
        auto probe = server.probe();
        auto mine = co_await client.lock("b").acquire();
        auto held = co_await holder.lock("a").acquire();
        auto const waiting = start_acquire(client.lock("a"));
        auto const subscribed = [&] { return probe.pubsub_numsub(channel_of_a) == 1; };
        BOOST_REQUIRE(co_await co_eventually(5s, subscribed));
        co_await sleep_for(100ms);

        proxy.refuse_new(true);
        proxy.cut(cut_kind::rst, connections_that_sent("SUBSCRIBE"));
        BOOST_REQUIRE(co_await co_eventually(5s, [&] { return !subscribed(); }));
        co_await held.release();
        co_await sleep_for(300ms);
        BOOST_TEST(!waiting->done);
        BOOST_TEST((mine.state() == lease_state::held));

        auto const start = lease_clock::now();
        proxy.refuse_new(false);
        BOOST_REQUIRE(co_await co_eventually(5s, [&] { return waiting->done; }));
        // 100 ms at most until the next attempt to connect, 100 ms to look again, the rest is
        // slack.
        BOOST_TEST(((waiting->at - start) < 1200ms));
        BOOST_TEST(waiting->held.valid());
        BOOST_TEST((mine.state() == lease_state::held));
        BOOST_TEST(client.stats().reconnects == 1U);
    });
}

BOOST_AUTO_TEST_CASE(the_subscriber_connection_goes_silent) {
    with_proxy([](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        holdfast::client holder{executor, only_notifications(server.url())};
        auto settings = only_notifications(proxy.url());
        settings.health_check_interval = 300ms;
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        auto held = co_await holder.lock("a").acquire();
        auto const waiting = start_acquire(client.lock("a"));
        auto const subscribed = [&] { return probe.pubsub_numsub(channel_of_a) >= 1; };
        BOOST_REQUIRE(co_await co_eventually(5s, subscribed));
        co_await sleep_for(100ms);

        // By number: the connection that replaces it is to work.
        proxy.set_mode(direction::to_client, proxy_mode::drop(), subscription_connection(proxy));
        co_await held.release();
        // Twice the health check interval, then as above.
        BOOST_TEST(co_await co_eventually(3s, [&] { return waiting->done; }));
        BOOST_TEST(waiting->held.valid());
    });
}

BOOST_AUTO_TEST_CASE(the_server_kills_subscribers) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client holder{executor, only_notifications(server.url())};
        holdfast::client client{executor, only_notifications(server.url())};
        auto probe = server.probe();
        auto const subscribed = [&] { return probe.pubsub_numsub(channel_of_a) == 1; };
        for (int round = 0; round < 10; ++round) {
            auto held = co_await holder.lock("a").acquire();
            auto const refusals = client.stats().refusals;
            auto const waiting = start_acquire(client.lock("a"));
            auto const sleeps = [&] { return subscribed() && client.stats().refusals > refusals; };
            BOOST_REQUIRE(co_await co_eventually(5s, sleeps));
            auto const start = lease_clock::now();
            BOOST_TEST(probe.client_kill_type("pubsub") == 1);
            co_await held.release();
            BOOST_REQUIRE(co_await co_eventually(5s, [&] { return waiting->done; }));
            BOOST_TEST(((waiting->at - start) < 1200ms));
            BOOST_TEST(waiting->held.valid());
            co_await waiting->held.release();
        }
        BOOST_TEST(client.stats().reconnects == 10U);
        BOOST_TEST(holder.stats().reconnects == 0U);
    });
}

// Boost.Redis stops reading when 256 messages have not been collected.
BOOST_AUTO_TEST_CASE(messages_without_end_are_read) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client holder{executor, only_notifications(server.url())};
        holdfast::client client{executor, only_notifications(server.url())};
        auto probe = server.probe();
        auto held = co_await holder.lock("a").acquire();
        auto const waiting = start_acquire(client.lock("a"));
        constexpr auto where_nothing_is_said = "holdfast_waiters:{a}";
        auto const subscribed = [&] { return probe.pubsub_numsub(where_nothing_is_said) == 1; };
        BOOST_REQUIRE(co_await co_eventually(5s, subscribed));
        auto const before = client.stats().notifications;

        constexpr int many = 5000;
        for (int i = 0; i < many; ++i) {
            BOOST_REQUIRE(probe.publish(where_nothing_is_said, "nothing") == 1);
        }
        auto const all_read = [&] { return client.stats().notifications >= before + many; };
        BOOST_TEST(co_await co_eventually(5s, all_read));
        co_await held.release();
        BOOST_REQUIRE(co_await co_eventually(5s, [&] { return waiting->done; }));
        BOOST_TEST(waiting->held.valid());
        BOOST_TEST(client.stats().reconnects == 0U);
    });
}
