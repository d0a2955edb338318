// A lease that is as long as the usual holds of its lock need.

#include "support/child_process.hpp"
#include "support/one_server.hpp"

#include <cstdint>
#include <list>
#include <string>

using namespace holdfast::test;
using steady = std::chrono::steady_clock;

namespace {

acquire_options const learning{.lease = holdfast::learned};

constexpr auto hold_key = "holdfast_hold:{a}";

// In milliseconds; -1 if there is none.
double usual_hold(redis_server& server) {
    auto const text = server.probe().get(hold_key);
    return text ? std::stod(*text) / 1'000 : -1;
}

task hold_for(holdfast::client& client, std::chrono::milliseconds length) {
    auto lease = co_await client.lock("a").acquire(learning);
    co_await sleep_for(length);
    co_await lease.release();
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_killed_holder_of_a_lock_that_is_held_briefly_is_succeeded_in_seconds) {
    redis_server server;
    child_process holder{{HOLDFAST_TEST_HOLDER, server.url(), "learned"}};
    // It has held the lock twenty times for 50 ms.
    BOOST_TEST(holder.read_line(20s).value_or("").starts_with("token "));
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        BOOST_TEST(holder.kill() == -SIGKILL);
        auto const killed = steady::now();
        auto const lease = co_await client.lock("a").acquire(learning);
        BOOST_TEST((steady::now() - killed <= 6s));
        BOOST_TEST(lease.valid());
    });
}

BOOST_AUTO_TEST_CASE(the_lease_is_that_of_the_configuration_until_something_is_known) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto lease = co_await client.lock("a").acquire(learning);
        auto probe = server.probe();
        BOOST_TEST(probe.pttl("a") > 29'000);
        BOOST_TEST((lease.remaining() > 29s));
        co_await sleep_for(20ms);
        co_await lease.release();
        auto const usual = usual_hold(server);
        BOOST_TEST(usual >= 20);
        BOOST_TEST(usual < 2'000);
        BOOST_TEST(probe.pttl(hold_key) > 86'000'000);

        holdfast::client other{executor, server.url()};
        lease = co_await other.lock("a").acquire(learning);
        auto const left = probe.pttl("a");
        BOOST_TEST(left <= 5'000);
        BOOST_TEST(left > 4'000);
        // Never later than the server's end.
        BOOST_TEST((lease.remaining() < std::chrono::milliseconds{left}));
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(plain_leases_leave_no_key_and_learn_nothing) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto lease = co_await client.lock("a").acquire();
        co_await lease.release();
        BOOST_TEST(!server.probe().exists(hold_key));
        BOOST_TEST(server.probe().keys().size() == 1U);  // the token counter
    });
}

BOOST_AUTO_TEST_CASE(a_hold_that_runs_long_is_renewed_and_kept) {
    with_server(
        [](redis_server& server, asio::any_io_executor executor) -> task {
            auto settings = holdfast::parse_url(server.url());
            settings.learned_lease_min = 1s;
            holdfast::client client{executor, settings};
            for (int i = 0; i < 3; ++i) {
                auto hold = hold_for(client, 5ms);
                co_await std::move(hold);
            }
            auto lease = co_await client.lock("a").acquire(learning);
            auto probe = server.probe();
            BOOST_TEST(probe.pttl("a") <= 1'000);
            auto const end = lease_clock::now() + 15s;
            while (lease_clock::now() < end) {
                BOOST_REQUIRE(lease.valid());
                BOOST_REQUIRE((lease.remaining() <= std::chrono::milliseconds{probe.pttl("a") + 1})
                );
                co_await sleep_for(20ms);
            }
            // Each time for longer: at 0.3, 0.6, 1.3, 2.7, 5.3 and 10.7 s.
            BOOST_TEST(client.stats().renewals >= 4U);
            BOOST_TEST(client.stats().renewals <= 12U);
            BOOST_TEST(probe.pttl("a") > 10'000);
            BOOST_TEST(probe.pttl("a") <= 30'000);
            co_await lease.release();
            // A fifth of that is what the next ones expect.
            BOOST_TEST(usual_hold(server) > 2'500);
        },
        60s
    );
}

BOOST_AUTO_TEST_CASE(a_lock_that_another_client_hands_over_gets_a_learned_lease) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client left{executor, server.url()};
        holdfast::client right{executor, server.url()};
        auto hold = hold_for(left, 20ms);
        co_await std::move(hold);
        auto held = co_await left.lock("a").acquire(learning);
        holdfast::lease next;
        right.lock("a").acquire(learning, [&](error_code, holdfast::lease granted) {
            next = std::move(granted);
        });
        BOOST_TEST(co_await co_eventually(5s, [&] { return right.stats().refusals >= 2; }));
        co_await held.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return bool(next); }));
        BOOST_TEST(right.stats().hand_overs_by.other_client == 1U);
        BOOST_TEST(co_await co_eventually(5s, [&] { return right.stats().claims_confirmed == 1; }));
        auto const left_over = server.probe().pttl("a");
        BOOST_TEST(left_over > 3'500);
        BOOST_TEST(left_over <= 5'000);
        BOOST_TEST((next.remaining() <= std::chrono::milliseconds{left_over}));
        BOOST_TEST((next.remaining() > 3s));
        co_await next.release();
    });
}

BOOST_AUTO_TEST_CASE(what_is_no_number_of_ours_is_not_known) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto probe = server.probe();
        for (auto const* text : {"", "-5", "junk", "1e300", "nan", "100000000000", "0x10", "1 2"}) {
            probe.set(hold_key, text);
            auto lease = co_await client.lock("a").acquire(learning);
            BOOST_TEST(probe.pttl("a") > 29'000, text);
            co_await lease.release();
            BOOST_TEST(usual_hold(server) < 2'000, text);
        }
        // What is not even a text is somebody else's.
        probe.del(hold_key);
        probe.cmd("HSET", hold_key, "precious", "1");
        auto lease = co_await client.lock("a").acquire(learning);
        BOOST_TEST(probe.pttl("a") > 29'000);
        co_await lease.release();
        BOOST_TEST(!probe.exists("a"));
        BOOST_TEST(probe.hgetall(hold_key).size() == 1U);
        BOOST_TEST(client.stats().losses.deleted == 0U);
    });
}

BOOST_AUTO_TEST_CASE(with_memory_full_releases_go_on) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto lease = co_await client.lock("a").acquire(learning);
        auto probe = server.probe();
        probe.cmd("CONFIG", "SET", "maxmemory", "1");
        auto [released] = co_await lease.release(as_result);
        BOOST_TEST(!released, released.message());
        BOOST_TEST(!probe.exists("a"));
        probe.cmd("CONFIG", "SET", "maxmemory", "0");
    });
}
