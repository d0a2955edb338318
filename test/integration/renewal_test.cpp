// How a lease is kept alive, and how it ends.

#include "support/one_server.hpp"
#include "support/tcp_proxy.hpp"

#include <boost/asio/cancel_after.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

using namespace holdfast::test;

BOOST_AUTO_TEST_CASE(a_lease_is_never_near_its_end_while_it_is_renewed) {
    with_client(
        [](holdfast::client& client, redis_probe& probe) -> task {
            acquire_options const options{.lease = 3s};
            auto held = co_await client.lock("a").acquire(options);
            std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
            auto const end = lease_clock::now() + 30s;
            while (lease_clock::now() < end) {
                lowest = std::min(lowest, probe.pttl("a"));
                BOOST_REQUIRE(held.valid());
                co_await sleep_for(5ms);
            }
            BOOST_TEST(lowest >= 1000);
            // One each second, and not many more.
            BOOST_TEST(client.stats().renewals >= 20U);
            BOOST_TEST(client.stats().renewals <= 32U);

            BOOST_TEST(!co_await release(held));
            auto const scripts = client.stats().commands;
            // Somebody else's key now: the old renewal must not touch it.
            probe.cmd("HSET", "a", "00000000-0000-4000-8000-000000000000:1", "1");
            probe.cmd("PEXPIRE", "a", 3000);
            auto last = probe.pttl("a");
            while (probe.exists("a")) {
                auto const now = probe.pttl("a");
                BOOST_REQUIRE(now <= last);
                last = now;
                co_await sleep_for(10ms);
            }
            BOOST_TEST(client.stats().commands == scripts);
        },
        90s
    );
}

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

BOOST_AUTO_TEST_CASE(a_fixed_lease_is_renewed_by_hand) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, short_leases(server.url(), 2s)};
        acquire_options const fixed{.renew = false};
        auto held = co_await client.lock("a").acquire(fixed);
        auto const lost = watch(held);
        auto probe = server.probe();
        for (int round = 0; round < 5; ++round) {
            co_await sleep_for(600ms);
            auto const before = held.deadline();
            auto const sent = lease_clock::now();
            BOOST_TEST(!co_await renew(held));
            BOOST_TEST((held.deadline() > before));
            // Counted from the sending, less the drift.
            BOOST_TEST((held.deadline() >= sent + 1900ms));
            BOOST_TEST((held.deadline() <= lease_clock::now() + 2s));
            BOOST_TEST(probe.pttl("a") > 1000);
        }
        BOOST_TEST(!lost->told);
        BOOST_TEST(client.stats().renewals == 5U);
        BOOST_REQUIRE(co_await co_eventually(3s, [&] { return lost->told; }));
        BOOST_TEST((lost->reason == loss_reason::expired));
        BOOST_TEST((lost->at < held.deadline()));
        BOOST_TEST((co_await renew(held) == errc::lease_lost));
        BOOST_TEST((co_await release(held) == errc::lease_lost));
        BOOST_TEST((co_await renew(held) == errc::not_held));
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

BOOST_AUTO_TEST_CASE(a_renewal_by_the_holder_starts_counting_again) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, short_leases(server.url(), 1s)};
        acquire_options const options{.max_renewals = 1};
        auto held = co_await client.lock("a").acquire(options);
        auto const lost = watch(held);
        for (int i = 0; i < 6; ++i) {
            co_await sleep_for(800ms);
            BOOST_TEST(!co_await renew(held));
        }
        BOOST_TEST(!lost->told);
        BOOST_REQUIRE(co_await co_eventually(5s, [&] { return lost->told; }));
        BOOST_TEST((lost->reason == loss_reason::max_renewals));
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

BOOST_AUTO_TEST_CASE(who_waits_for_the_loss_is_told) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, short_leases(server.url(), 1500ms)};
        auto held = co_await client.lock("a").acquire();

        // A watch that is cancelled changes nothing.
        auto const [cancelled, none] = co_await held.wait_lost(asio::cancel_after(50ms, as_result));
        BOOST_TEST((cancelled == asio::error::operation_aborted));
        BOOST_TEST((none == loss_reason::none));
        BOOST_TEST(held.valid());

        // A release ends it.
        auto const first = watch(held);
        auto const second = watch(held);
        BOOST_TEST(!co_await release(held));
        BOOST_TEST(co_await co_eventually(1s, [&] { return first->told && second->told; }));
        BOOST_TEST((first->error == errc::not_held));
        BOOST_TEST((second->error == errc::not_held));

        // All are told of a loss, and those who ask afterwards.
        held = co_await client.lock("a").acquire();
        auto const third = watch(held);
        auto const fourth = watch(held);
        BOOST_TEST(server.probe().del("a") == 1);
        BOOST_TEST(co_await co_eventually(2s, [&] { return third->told && fourth->told; }));
        BOOST_TEST((third->reason == loss_reason::deleted));
        BOOST_TEST((fourth->reason == loss_reason::deleted));
        auto const [late, reason] = co_await held.wait_lost(as_result);
        BOOST_TEST(!late);
        BOOST_TEST((reason == loss_reason::deleted));

        holdfast::lease empty;
        auto const [nothing, no_reason] = co_await empty.wait_lost(as_result);
        BOOST_TEST((nothing == errc::not_held));
        BOOST_TEST((no_reason == loss_reason::none));
    });
}

BOOST_AUTO_TEST_CASE(a_lease_is_in_doubt_and_held_again) {
    with_proxy([](redis_server&, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, short_leases(proxy.url(), 3s)};
        auto held = co_await client.lock("a").acquire();
        acquire_options const fixed_options{.lease = 20s, .renew = false};
        auto fixed = co_await client.lock("b").acquire(fixed_options);
        auto const lost = watch(held);
        auto const lost_fixed = watch(fixed);
        for (int round = 0; round < 5; ++round) {
            auto const deadline = held.deadline();
            proxy.refuse_new(true);
            proxy.cut(cut_kind::fin);
            auto const in_doubt = [&] { return held.state() == lease_state::in_doubt; };
            BOOST_TEST(co_await co_eventually(1s, in_doubt));
            BOOST_TEST((fixed.state() == lease_state::in_doubt));
            BOOST_TEST(held.valid());
            BOOST_TEST((held.deadline() == deadline));
            proxy.refuse_new(false);
            auto const sure = [&] { return held.state() == lease_state::held; };
            BOOST_TEST(co_await co_eventually(1500ms, sure));
            BOOST_TEST((fixed.state() == lease_state::held));
            BOOST_TEST((held.deadline() > deadline));
        }
        BOOST_TEST(!lost->told);
        BOOST_TEST(!lost_fixed->told);
        BOOST_TEST(!co_await release(held));
        BOOST_TEST(!co_await release(fixed));
    });
}

BOOST_AUTO_TEST_CASE(a_lost_lease_does_not_come_back) {
    with_proxy([](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, short_leases(proxy.url(), 1500ms)};
        auto held = co_await client.lock("a").acquire();
        auto const lost = watch(held);
        // The answers come late, all of them, and tell of success.
        proxy.set_mode(direction::to_client, proxy_mode::stall());
        BOOST_REQUIRE(co_await co_eventually(3s, [&] { return lost->told; }));
        BOOST_TEST((lost->reason == loss_reason::unreachable));
        BOOST_TEST((lost->at < held.deadline()));
        proxy.set_mode(proxy_mode::forward());
        auto const end = lease_clock::now() + 1s;
        while (lease_clock::now() < end) {
            BOOST_REQUIRE((held.state() == lease_state::lost));
            co_await sleep_for(5ms);
        }
        // The server may have gone on renewing for as long as it got requests, not longer.
        BOOST_TEST(co_await co_eventually(1500ms, [&] { return !server.probe().exists("a"); }));
    });
}
