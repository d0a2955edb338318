// Servers, Sentinels and clients in hosts of their own, and a network that falls apart.

#include "network_fixture.hpp"
#include "support/sentinel_group.hpp"

#include <optional>
#include <string>

using namespace holdfast::test;

namespace {

// Sentinels that do not agree at once take longer: see `sentinel_group::usual_limit`.
constexpr auto switch_limit = 60s;

std::vector<server_place> places(virtual_network& network, std::vector<std::size_t> const& hosts) {
    std::vector<server_place> result;
    for (auto const host : hosts) {
        result.push_back(network[host].place());
    }
    return result;
}

std::optional<std::size_t> other_primary(sentinel_group const& group) {
    return group.wait_for_switch(0, switch_limit, sentinel_group::who::first);
}

bool is_primary(redis_server const& server) {
    return server.probe().info("replication").at("role") == "master";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sentinels)

BOOST_AUTO_TEST_CASE(clients_follow_the_majority_of_split_sentinels_and_the_minority_grants_nothing
) {
    with_network(5, [](virtual_network& network, asio::any_io_executor executor) -> task {
        sentinel_group group{
            {.server_places = places(network, {0, 1, 2}),
             .sentinel_places = places(network, {1, 1, 2})}
        };
        auto const settings = short_leases(group.url(), 5s);
        holdfast::client with_most{network[3].executor(), settings};
        holdfast::client with_few{network[4].executor(), settings};
        co_await with_most.ready();
        co_await with_few.ready();

        network.split({{1, 3}, {2, 4}});
        group.server(0).kill();
        auto const granted = start_acquire(executor, with_most.lock("a"));
        auto const waiting = start_acquire(executor, with_few.lock("a"));
        std::optional<std::size_t> now;
        co_await run_aside([&] { now = other_primary(group); });
        BOOST_REQUIRE(now.has_value());
        BOOST_TEST(*now == 1U);
        BOOST_REQUIRE(co_await co_eventually(10s, [&] { return granted->done; }));
        BOOST_TEST(granted->held.valid());
        co_await sleep_for(1s);
        BOOST_TEST(!is_primary(group.server(2)));
        BOOST_TEST(group.primary(2) == 0U);
        BOOST_TEST(!waiting->done);
        BOOST_TEST(granted->held.valid());

        network.heal();
        auto const followed = [&] { return group.primary(2) == 1U; };
        BOOST_REQUIRE(co_await co_eventually(20s, followed));
        co_await sleep_for(500ms);
        BOOST_TEST(!waiting->done);
        BOOST_TEST(granted->held.valid());
        auto const token = granted->held.token();
        BOOST_TEST(!co_await release(granted->held));
        BOOST_REQUIRE(co_await co_eventually(20s, [&] { return waiting->done; }));
        BOOST_TEST(waiting->held.valid());
        BOOST_TEST((waiting->held.token() > token));
        BOOST_TEST(!co_await release(waiting->held));
    });
}

// The promise of `config::replicas`, with a count of all replicas that may be promoted.
BOOST_AUTO_TEST_CASE(
    a_lease_at_an_old_primary_that_is_cut_off_ends_before_the_new_one_grants_the_lock
) {
    with_network(5, [](virtual_network& network, asio::any_io_executor executor) -> task {
        sentinel_group group{
            {.server_places = places(network, {0, 1, 2}),
             .sentinel_places = places(network, {0, 1, 2})}
        };
        auto settings = short_leases(group.url(), 5s);
        settings.replicas = {.count = 1, .timeout = 500ms};
        holdfast::client on_new_side{network[4].executor(), settings};
        settings.replicas.count = 2;
        holdfast::client on_old_side{network[3].executor(), settings};
        auto held = co_await on_old_side.lock("a").acquire();
        auto const lost = watch(executor, held);
        auto const waiting = start_acquire(executor, on_new_side.lock("a"), &held);
        co_await until_waiting(on_old_side, 1);

        network.split({{0, 3}, {1, 2, 4}});
        std::optional<std::size_t> now;
        co_await run_aside([&] { now = other_primary(group); });
        BOOST_REQUIRE(now.has_value());
        // The old primary is well, and its Sentinel names it: nothing is granted there.
        BOOST_TEST(is_primary(group.server(0)));
        BOOST_TEST(group.primary(0) == 0U);
        auto const [ec, none] = co_await on_old_side.lock("b").try_acquire(as_result);
        BOOST_TEST((ec == errc::not_replicated), ec.message());
        BOOST_TEST(!none.valid());

        BOOST_REQUIRE(co_await co_eventually(20s, [&] { return waiting->done; }));
        BOOST_TEST(!waiting->error);
        BOOST_TEST(!waiting->rival_was_valid);
        BOOST_TEST((waiting->at > held.deadline()));
        BOOST_REQUIRE(lost->told);
        BOOST_TEST((lost->at < waiting->at));
        BOOST_TEST(waiting->held.valid());

        // The clients of the old side follow.
        network.heal();
        BOOST_TEST((co_await release(held) == errc::lease_lost));
        auto const again = start_acquire(executor, on_old_side.lock("a"), &waiting->held);
        co_await sleep_for(1s);
        BOOST_TEST(!again->done);
        BOOST_TEST(waiting->held.valid());
        auto const token = waiting->held.token();
        BOOST_TEST(!co_await release(waiting->held));
        BOOST_REQUIRE(co_await co_eventually(40s, [&] { return again->done; }));
        BOOST_TEST(!again->rival_was_valid);
        BOOST_TEST(again->held.valid());
        BOOST_TEST((again->held.token() > token));
        BOOST_TEST(!co_await release(again->held));
    });
}

BOOST_AUTO_TEST_SUITE_END()
