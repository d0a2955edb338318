// The server is killed and started again, with its data and without.

#include "support/one_server.hpp"

using namespace holdfast::test;

namespace {

holdfast::config settings_for(redis_server const& server) {
    auto settings = short_leases(server.url(), 6s);
    settings.reconnect_max = 200ms;
    return settings;
}

}  // namespace

BOOST_AUTO_TEST_CASE(leases_survive_a_server_that_is_killed_and_restarted_with_its_data) {
    with_server(
        {.appendonly = true},
        [](redis_server& server, asio::any_io_executor executor) -> task {
            holdfast::client client{executor, settings_for(server)};
            holdfast::client other{executor, settings_for(server)};
            auto held = co_await client.lock("a").acquire();
            auto const lost = watch(held);
            auto const waiting = start_acquire(other.lock("a"), {}, &held);
            co_await sleep_for(200ms);

            server.kill();
            auto const doubted = [&] { return held.state() == lease_state::in_doubt; };
            BOOST_TEST(co_await co_eventually(2s, doubted));
            BOOST_TEST(held.valid());
            auto const deadline = held.deadline();
            co_await run_aside([&] { server.restart(true); });

            BOOST_TEST(co_await co_eventually(3s, [&] { return held.state() == lease_state::held; })
            );
            BOOST_TEST((held.deadline() > deadline));
            BOOST_TEST(!lost->told);
            auto const looked = [&] { return other.stats().refusals >= 2; };
            BOOST_TEST(co_await co_eventually(3s, looked));
            BOOST_TEST(!waiting->done);
            BOOST_TEST(!co_await release(held));
            BOOST_TEST(co_await co_eventually(2s, [&] { return waiting->done; }));
            BOOST_TEST(waiting->held.valid());
            BOOST_TEST(!waiting->rival_was_valid);
            BOOST_TEST(waiting->held.token().value > held.token().value);
        }
    );
}

BOOST_AUTO_TEST_CASE(a_server_that_is_killed_and_restarted_empty_has_lost_every_lease) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, settings_for(server)};
        holdfast::client other{executor, settings_for(server)};
        auto taken = co_await client.lock("a").acquire();
        auto forgotten = co_await client.lock("b").acquire();
        auto const lost_a = watch(taken);
        auto const lost_b = watch(forgotten);
        auto const waiting = start_acquire(other.lock("a"));
        co_await sleep_for(200ms);

        auto const deadline = taken.deadline();
        co_await run_aside([&] { server.restart(false); });
        // At the first renewal on the new connection; never as late as the next one in turn.
        BOOST_REQUIRE(co_await co_eventually(2s, [&] { return lost_a->told && lost_b->told; }));
        bool const gone =
            lost_a->reason == loss_reason::taken || lost_a->reason == loss_reason::failed_over;
        BOOST_TEST(gone);
        BOOST_TEST((lost_b->reason == loss_reason::failed_over));
        BOOST_TEST((lost_a->at < deadline));
        BOOST_TEST(!taken.valid());

        BOOST_REQUIRE(co_await co_eventually(3s, [&] { return waiting->done; }));
        BOOST_TEST(waiting->held.valid());
        BOOST_TEST(waiting->held.token().value > taken.token().value);
        auto probe = server.probe();
        BOOST_TEST(!probe.exists("b"));
        BOOST_TEST((co_await release(taken) == errc::lease_lost));
        BOOST_TEST((co_await release(forgotten) == errc::lease_lost));
        BOOST_TEST(waiting->held.valid());
        BOOST_TEST(probe.exists("a"));

        auto again = co_await client.lock("b").acquire();
        BOOST_TEST(again.token().value > forgotten.token().value);
    });
}
