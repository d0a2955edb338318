// Whoever watches a lock is told on its channels.

#include "cli/lock_channels.hpp"

#include "unit/cli/memory_world.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast::cli;
using holdfast::client;
using holdfast::config;
using holdfast::lease_clock;
using holdfast::test::co_eventually;
using holdfast::test::memory_world;
using holdfast::test::with_memory;
using task = boost::asio::awaitable<void>;

BOOST_AUTO_TEST_SUITE(cli_lock_channels_test)

BOOST_AUTO_TEST_CASE(a_name_has_a_channel_for_each_kind_of_lock) {
    config settings;
    settings.key_prefix = "shop:";
    settings.database = 2;
    std::vector<std::string> const expected{
        "redisson_lock__channel:{shop:a}",
        "redisson_rwlock:{shop:a}",
        "redisson_sc:{shop:a}",
        "redisson_countdownlatch__channel__{shop:a}",
        "__keyspace@2__:shop:a",
    };
    BOOST_TEST(channels_of(settings, "a") == expected, boost::test_tools::per_element());
    settings.cluster_nodes = {{"node", 6379}};
    BOOST_TEST(channels_of(settings, "a").size() == 4U);
    BOOST_TEST(channels_of({}, "").empty());
}

BOOST_AUTO_TEST_CASE(a_message_ends_the_wait) {
    with_memory([](memory_world& world, client& by) -> task {
        lock_channels channels{by, {}, "a"};
        bool const subscribed =
            co_await co_eventually(20s, [&] { return world.server->subscriptions() == 5; });
        BOOST_TEST(subscribed);
        // The confirmations.
        co_await channels.wait(lease_clock::now() + 10ms);
        co_await channels.wait(lease_clock::now() + 10ms);
        world.server->publish("redisson_lock__channel:{a}");
        auto const begin = lease_clock::now();
        co_await channels.wait(begin + 1h);
        BOOST_TEST((lease_clock::now() < begin + 1h));
    });
}

BOOST_AUTO_TEST_SUITE_END()
