// How a lease is kept alive, and how it ends.

#include "support/one_server.hpp"
#include "support/tcp_proxy.hpp"

using namespace holdfast::test;

BOOST_AUTO_TEST_CASE(a_release_in_the_middle_of_a_renewal_ends_it) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        for (int round = 0; round < 50; ++round) {
            // Renewed all the time.
            acquire_options const options{.lease = 6s, .renew_at = 0.001};
            auto held = co_await client.lock("a").acquire(options);
            auto const before = client.stats().renewals;
            auto const renewed = [&] { return client.stats().renewals > before; };
            BOOST_REQUIRE(co_await co_eventually(10s, renewed));
            co_await sleep_for(std::chrono::microseconds{100 * round});
            BOOST_TEST(!co_await release(held));
            BOOST_TEST(!probe.exists("a"));
        }
        auto const commands = client.stats().commands;
        co_await sleep_for(200ms);
        BOOST_TEST(client.stats().commands == commands);
        BOOST_TEST(client.stats().renewals >= 50U);
        BOOST_TEST(!probe.exists("a"));
    });
}

BOOST_AUTO_TEST_CASE(a_fixed_lease_expires_in_time) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, short_leases(server.url(), 1500ms)};
        holdfast::client other{executor, short_leases(server.url(), 1500ms)};
        auto const start = lease_clock::now();
        acquire_options const fixed{.renew = false};
        auto held = co_await client.lock("a").acquire(fixed);
        auto const deadline = held.deadline();
        BOOST_TEST((deadline <= lease_clock::now() + 1500ms));
        auto const lost = watch(held);
        auto const waiting = start_acquire(other.lock("a"), {}, &held);

        BOOST_REQUIRE(co_await co_eventually(3s, [&] { return lost->told; }));
        BOOST_TEST(!lost->error);
        BOOST_TEST((lost->reason == loss_reason::expired));
        BOOST_TEST((lost->at < deadline));
        BOOST_TEST(((lost->at - start) > 900ms));
        BOOST_TEST((held.deadline() == deadline));
        BOOST_TEST(!held.valid());
        BOOST_TEST(bool(held));
        BOOST_TEST((held.remaining() > 0ms));
        BOOST_TEST(client.stats().renewals == 0U);
        BOOST_TEST(client.stats().losses.expired == 1U);

        BOOST_REQUIRE(co_await co_eventually(3s, [&] { return waiting->done; }));
        BOOST_TEST(!waiting->rival_was_valid);
        BOOST_TEST((waiting->at >= deadline));
        BOOST_TEST(((waiting->at - start) < 1500ms + 1s));
        BOOST_TEST((held.remaining() == 0ms));
        BOOST_TEST((co_await release(held) == errc::lease_lost));
        BOOST_TEST(waiting->held.valid());
    });
}

BOOST_AUTO_TEST_CASE(a_lost_lease_that_is_released_frees_its_key) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = short_leases(server.url(), 3s);
        settings.loss_margin = 0.5;
        holdfast::client client{executor, settings};
        acquire_options const fixed{.renew = false};
        auto held = co_await client.lock("a").acquire(fixed);
        auto const lost = watch(held);
        BOOST_REQUIRE(co_await co_eventually(3s, [&] { return lost->told; }));
        BOOST_TEST(server.probe().exists("a"));
        BOOST_TEST((co_await release(held) == errc::lease_lost));
        BOOST_TEST(!held);
        BOOST_TEST(!server.probe().exists("a"));
    });
}

BOOST_AUTO_TEST_CASE(max_hold_ends_a_lease) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, short_leases(server.url(), 1s)};
        holdfast::client other{executor, short_leases(server.url(), 1s)};
        acquire_options const options{.max_hold = 2500ms};
        auto const start = lease_clock::now();
        auto held = co_await client.lock("a").acquire(options);
        auto const lost = watch(held);
        auto const waiting = start_acquire(other.lock("a"), {}, &held);

        BOOST_REQUIRE(co_await co_eventually(5s, [&] { return lost->told; }));
        BOOST_TEST((lost->reason == loss_reason::max_hold));
        BOOST_TEST(((lost->at - start) > 2s));
        BOOST_TEST(((lost->at - start) < 2500ms + 500ms));
        BOOST_TEST((held.loss() == loss_reason::max_hold));
        BOOST_TEST(!held.valid());
        BOOST_TEST(client.stats().renewals >= 3U);
        BOOST_TEST(client.stats().losses.max_hold == 1U);

        // Not renewed any more: free after one lease though its holder never releases it.
        BOOST_REQUIRE(co_await co_eventually(3s, [&] { return waiting->done; }));
        BOOST_TEST(((waiting->at - lost->at) < 1s + 1s));
        BOOST_TEST(!waiting->rival_was_valid);
        BOOST_TEST((co_await renew(held) == errc::lease_lost));
        BOOST_TEST((co_await release(held) == errc::lease_lost));
        BOOST_TEST(waiting->held.valid());
    });
}

BOOST_AUTO_TEST_CASE(after_max_renewals_the_lease_ends_by_time_and_its_holder_is_told) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, short_leases(server.url(), 1s)};
        holdfast::client other{executor, short_leases(server.url(), 1s)};
        acquire_options const options{.max_renewals = 2};
        auto const start = lease_clock::now();
        auto held = co_await client.lock("a").acquire(options);
        auto const lost = watch(held);
        auto const waiting = start_acquire(other.lock("a"), {}, &held);

        BOOST_REQUIRE(co_await co_eventually(5s, [&] { return lost->told; }));
        BOOST_TEST((lost->reason == loss_reason::max_renewals));
        BOOST_TEST((lost->at < held.deadline()));
        // The second renewal comes when about two thirds of a lease are over.
        BOOST_TEST(((lost->at - start) > 1'300ms));
        BOOST_TEST(client.stats().renewals == 2U);
        BOOST_TEST(client.stats().losses.max_renewals == 1U);
        BOOST_REQUIRE(co_await co_eventually(3s, [&] { return waiting->done; }));
        BOOST_TEST(!waiting->rival_was_valid);
    });
}

// Each holder has its own count.
BOOST_AUTO_TEST_CASE(the_next_holder_of_the_same_client_is_renewed_as_often) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, short_leases(server.url(), 1s)};
        acquire_options const options{.max_renewals = 3};
        auto first = co_await client.lock("a").acquire(options);
        holdfast::lease second;
        client.lock("a").acquire(options, [&](error_code, holdfast::lease granted) {
            second = std::move(granted);
        });
        co_await sleep_for(1'200ms);
        BOOST_TEST(!co_await release(first));
        BOOST_REQUIRE(co_await co_eventually(1s, [&] { return bool(second); }));
        auto const start = lease_clock::now();
        auto const lost = watch(second);
        BOOST_REQUIRE(co_await co_eventually(5s, [&] { return lost->told; }));
        BOOST_TEST((lost->reason == loss_reason::max_renewals));
        BOOST_TEST(((lost->at - start) > 1'500ms));
    });
}
