// Sentinels name the primary, and grants count only when a replica of it has them: before a
// failover and after it.

#include "support/one_server.hpp"
#include "support/sentinel_group.hpp"

#include <functional>
#include <optional>

using namespace holdfast::test;

namespace {

using group_body = std::function<task(sentinel_group&, asio::any_io_executor)>;

void with_group(group_options options, group_body const& body) {
    sentinel_group group{std::move(options)};
    run_with_deadline(
        [&](asio::any_io_executor executor) { return body(group, std::move(executor)); },
        120s
    );
}

// Sentinels may need a minute for a failover: no lease ends meanwhile.
holdfast::config waiting_for(unsigned count, sentinel_group const& group) {
    auto settings = short_leases(group.url(), 5min);
    settings.reconnect_max = 200ms;
    settings.replicas = {.count = count, .timeout = 1s};
    return settings;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_replicas_had_is_held_at_the_one_that_was_promoted) {
    with_group({.replicas = 2}, [](sentinel_group& group, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, waiting_for(2, group)};
        holdfast::client fewer{executor, waiting_for(1, group)};
        auto held = co_await client.lock("a").acquire();
        auto kept = co_await fewer.lock("b").acquire();
        BOOST_TEST(group.server(1).probe().exists("a"));
        BOOST_TEST(group.server(2).probe().exists("a"));
        auto const lost = watch(kept);
        auto const waiting = start_acquire(fewer.lock("a"), {}, &held);
        co_await sleep_for(300ms);

        std::optional<std::size_t> now;
        co_await run_aside([&] {
            group.server(0).kill();
            now = group.wait_for_switch(0);
        });
        BOOST_REQUIRE(now.has_value());
        auto const switched = lease_clock::now();
        // Neither lock was lost. One replica is left: that is enough for the one, and too few for
        // the other.
        BOOST_TEST(group.server(*now).probe().exists("a"));
        BOOST_TEST(co_await co_eventually(20s, [&] { return kept.state() == lease_state::held; }));
        BOOST_TEST(!lost->told);
        BOOST_TEST((held.state() == lease_state::in_doubt));
        auto const [ec, none] = co_await client.lock("c").try_acquire(as_result);
        BOOST_TEST((ec == errc::not_replicated), ec.message());
        BOOST_TEST(!none.valid());

        BOOST_TEST(!co_await release(held));
        BOOST_TEST(co_await co_eventually(20s, [&] { return waiting->done; }));
        BOOST_TEST(!waiting->rival_was_valid);
        BOOST_TEST(waiting->held.valid());
        BOOST_TEST(waiting->held.token().value > held.token().value);
        BOOST_TEST((lease_clock::now() - switched < 45s));
        auto const replica = 3 - *now;
        BOOST_TEST(group.server(replica).probe().exists("a"));
        BOOST_TEST(!co_await release(waiting->held));
        BOOST_TEST(!co_await release(kept));
    });
}
