// What operators see and do: inspect, force_release, keys that lost their expiry, prefixes.

#include "support/one_server.hpp"

#include <string>
#include <vector>

using namespace holdfast::test;
using steady = std::chrono::steady_clock;

// A tool that crashed half way, or an operator's PERSIST.
BOOST_AUTO_TEST_CASE(a_lock_that_never_expires_is_looked_at_again_and_reported) {
    log_lines log;
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url(server.url());
        settings.fallback_poll_interval = 200ms;
        settings.log = log.sink();
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        std::string const holder = "71b96ce8-2746-4c7e-9a51-0f6de2f5a111:7";
        probe.cmd("HSET", "a", holder, 1);

        auto [ec, none] = co_await client.lock("a").try_acquire_for(500ms, as_result);
        BOOST_TEST(!ec, ec.message());
        BOOST_TEST(!none);
        holdfast::lease lease;
        client.lock("a").acquire([&](error_code, holdfast::lease granted) {
            lease = std::move(granted);
        });
        auto const before = client.stats().attempts;
        co_await sleep_for(1500ms);
        auto const looked = client.stats().attempts - before;
        BOOST_TEST(looked >= 4U);
        BOOST_TEST(looked <= 10U);
        BOOST_TEST(log.count(log_level::error, "no expiry") >= 1U);
        BOOST_TEST(log.count(log_level::error, "no expiry") <= 2U);  // not at each look

        auto const info = co_await client.lock("a").inspect();
        BOOST_TEST(info.held);
        BOOST_TEST(info.never_expires);
        BOOST_TEST(!info.remaining);
        BOOST_TEST(info.holder == holder);
        BOOST_TEST(info.local_waiters == 1U);

        // Deleted without a message.
        probe.del("a");
        BOOST_TEST(co_await co_eventually(1s, [&] { return bool(lease); }));
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(a_renewal_gives_a_persisted_key_its_expiry_back) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto lease = co_await client.lock("a").acquire({.lease = 1500ms});
        probe.cmd("PERSIST", "a");
        BOOST_TEST(probe.pttl("a") == -1);
        BOOST_TEST(co_await co_eventually(1s, [&] { return probe.pttl("a") > 0; }));
        BOOST_TEST(lease.valid());
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(force_release_frees_a_lock_wakes_a_waiter_and_the_holder_learns_of_it) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client holder{executor, server.url()};
        holdfast::client waiter{executor, server.url()};
        holdfast::client operators{executor, server.url()};
        BOOST_TEST(!co_await operators.lock("a").force_release());

        auto held = co_await holder.lock("a").acquire({.lease = 3s});
        holdfast::lease next;
        waiter.lock("a").acquire({.lease = 1h}, [&](error_code, holdfast::lease granted) {
            next = std::move(granted);
        });
        BOOST_TEST(co_await co_eventually(2s, [&] { return waiter.stats().refusals == 2; }));
        BOOST_TEST(co_await operators.lock("a").force_release());
        auto const freed = steady::now();
        BOOST_TEST(co_await co_eventually(1s, [&] { return bool(next); }));
        BOOST_TEST(next.token().value > held.token().value);

        auto [ec, reason] = co_await held.wait_lost(as_result);
        BOOST_TEST(!ec);
        BOOST_TEST((reason == loss_reason::taken));
        BOOST_TEST((steady::now() - freed < 1500ms));
        auto [released] = co_await held.release(as_result);
        BOOST_TEST((released == errc::lease_lost));
        BOOST_TEST(next.valid());
        co_await next.release();
    });
}

BOOST_AUTO_TEST_CASE(a_holder_leads_to_the_connections_of_its_client) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url(server.url());
        settings.client_name = "shop";
        holdfast::client client{executor, settings};
        holdfast::client another{executor, settings};
        co_await another.ready();
        auto lease = co_await client.lock("a").acquire();
        auto const info = co_await another.lock("a").inspect();
        auto const name = "shop:" + info.holder.substr(0, info.holder.rfind(':'));
        std::size_t connections = 0;
        for (auto& each : server.probe().client_list()) {
            connections += each["name"] == name ? 1U : 0U;
        }
        BOOST_TEST(connections == 2U);
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(inspect_tells_who_has_the_lock) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto const lock = client.lock("a");
        auto const unknown = co_await lock.inspect();
        BOOST_TEST(!unknown.held);
        BOOST_TEST(!unknown.remaining);
        BOOST_TEST(!unknown.never_expires);
        BOOST_TEST(unknown.holder.empty());
        BOOST_TEST(unknown.hold_count == 0U);
        BOOST_TEST(unknown.last_token.value == 0U);
        BOOST_TEST(unknown.local_waiters == 0U);

        auto lease = co_await lock.acquire({.lease = 30s});
        for (int i = 0; i < 3; ++i) {
            lock.acquire([](error_code, holdfast::lease) {});
        }
        BOOST_TEST(co_await co_eventually(2s, [&] { return client.stats().waiters_now == 3; }));
        auto const held = co_await lock.inspect();
        BOOST_TEST(held.held);
        BOOST_REQUIRE(held.remaining);
        BOOST_TEST(held.remaining->count() > 25'000);
        BOOST_TEST(held.remaining->count() <= 30'000);
        BOOST_TEST(!held.never_expires);
        BOOST_TEST(held.holder == server.probe().hgetall("a").begin()->first);
        BOOST_TEST(held.hold_count == 1U);
        BOOST_TEST(held.last_token.value >= lease.token().value);
        BOOST_TEST(held.local_waiters == 3U);
        co_await client.shutdown();

        holdfast::client later{executor, server.url()};
        auto const free = co_await later.lock("a").inspect();
        BOOST_TEST(!free.held);
        BOOST_TEST(free.last_token.value >= lease.token().value);
    });
}

BOOST_AUTO_TEST_CASE(a_key_prefix_separates_programs) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url(server.url());
        settings.key_prefix = "app:";
        holdfast::client client{executor, settings};
        holdfast::client other{executor, server.url()};
        BOOST_TEST(client.lock("a").name() == "app:a");
        auto lease = co_await client.lock("a").acquire();
        BOOST_TEST(
            server.probe().keys() ==
            (std::vector<std::string>{"app:a", "redisson_lock_token:{app:a}"})
        );
        auto free = co_await other.lock("a").try_acquire();
        BOOST_TEST(free.valid());
        auto busy = co_await other.lock("app:a").try_acquire();
        BOOST_TEST(!busy);
        co_await free.release();
        co_await lease.release();
        BOOST_TEST(!co_await client.lock("a").force_release());
    });
}
