// The connection that carries notices dies: what was published in the gap must not be missed.

#include "support/background.hpp"
#include "support/redis_probe.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"
#include "support/tcp_proxy.hpp"

#include <holdfast.hpp>

#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>

using namespace holdfast::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::lease_clock;
using holdfast::lease_state;

namespace {

constexpr auto channel_of_a = "redisson_lock__channel:{a}";

// Without timers that could help: neither the holder's lease nor the fallback ends within the test.
holdfast::config only_notices(std::string const& url) {
    auto settings = holdfast::parse_url(url);
    settings.lease = 1h;
    settings.fallback = 1h;
    settings.request_timeout = 2s;
    settings.reconnect_max = 100ms;
    return settings;
}

connection_selector notice_connection(tcp_proxy const& proxy) {
    auto const sent = proxy.commands(connection_number(1));
    auto const subscribes = [](std::string const& command) {
        return command.starts_with("SUBSCRIBE");
    };
    return connection_number(std::any_of(sent.begin(), sent.end(), subscribes) ? 1 : 2);
}

}  // namespace

BOOST_AUTO_TEST_CASE(fault_20_the_subscriber_connection_dies) {
    redis_server server;
    tcp_proxy proxy{server.unix_socket()};
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client holder{executor, only_notices(server.url())};
        holdfast::client client{executor, only_notices(proxy.url())};
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

BOOST_AUTO_TEST_CASE(fault_20_the_subscriber_connection_goes_silent) {
    redis_server server;
    tcp_proxy proxy{server.unix_socket()};
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client holder{executor, only_notices(server.url())};
        auto settings = only_notices(proxy.url());
        settings.health_check_interval = 300ms;
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        auto held = co_await holder.lock("a").acquire();
        auto const waiting = start_acquire(client.lock("a"));
        auto const subscribed = [&] { return probe.pubsub_numsub(channel_of_a) >= 1; };
        BOOST_REQUIRE(co_await co_eventually(5s, subscribed));
        co_await sleep_for(100ms);

        // By number: the connection that replaces it is to work.
        proxy.set_mode(direction::to_client, proxy_mode::drop(), notice_connection(proxy));
        co_await held.release();
        // Twice the health check interval, then as above.
        BOOST_TEST(co_await co_eventually(3s, [&] { return waiting->done; }));
        BOOST_TEST(waiting->held.valid());
    });
}

BOOST_AUTO_TEST_CASE(fault_60_the_server_kills_subscribers) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client holder{executor, only_notices(server.url())};
        holdfast::client client{executor, only_notices(server.url())};
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
