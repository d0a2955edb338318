// A Redis Cluster whose primaries die, and whose replicas take over. Each test has a cluster of its
// own, because it does not leave it as it was.

#include "support/one_cluster.hpp"

#include <string>

using namespace holdfast::test;

namespace {

// Nodes 0 to 2 are the primaries, 3 is the replica of 0.
void with_replica(cluster_body const& body) {
    redis_cluster cluster{{.replicas = 1}};
    run_with_deadline(
        [&](asio::any_io_executor executor) { return body(cluster, std::move(executor)); },
        60s
    );
}

holdfast::config settings_of(redis_cluster& cluster) {
    auto settings = holdfast::parse_url(cluster.url());
    settings.lease = 60s;
    return settings;
}

void wait_for_replica(redis_cluster& cluster) {
    BOOST_TEST(eventually(5s, [&] {
        auto probe = cluster.probe(0);
        return probe.cmd("WAIT", 1, 1000).as_integer() == 1;
    }));
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_was_held_and_waited_for_goes_on_at_the_replica_that_took_over) {
    with_replica([](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        holdfast::client first{executor, settings_of(cluster)};
        holdfast::client second{executor, settings_of(cluster)};
        auto const name = cluster.name_on(0, "survives:");
        auto const elsewhere = cluster.name_on(1, "elsewhere:");
        auto held = co_await first.lock(name).acquire();
        auto untouched = co_await first.lock(elsewhere).acquire();
        waiting_acquire waiter{executor, second.lock(name)};
        BOOST_TEST(co_await co_eventually(10s, [&] { return second.stats().waits == 1; }));
        co_await sleep_for(100ms);
        wait_for_replica(cluster);
        auto const before = held.token();
        cluster.node(0).kill();
        // The other node's lock is not in doubt.
        BOOST_TEST(co_await co_eventually(10s, [&] {
            return held.state() == lease_state::in_doubt;
        }));
        BOOST_TEST((untouched.state() == lease_state::held));
        BOOST_TEST(co_await co_eventually(50s, [&] { return held.state() == lease_state::held; }));
        auto probe = cluster.probe(3);
        BOOST_TEST(probe.exists(name));
        co_await held.release();
        BOOST_TEST(co_await co_eventually(10s, [&] { return waiter.granted(); }));
        BOOST_TEST(waiter.lease().token().value > before.value);
        co_await waiter.lease().release();
        co_await untouched.release();
        BOOST_TEST(!probe.exists(name));
    });
}

BOOST_AUTO_TEST_CASE(a_demoted_primary_is_left_and_a_replica_never_used) {
    with_replica([](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        // The only node that it knows of is a replica: it learns the others from it.
        holdfast::client client{executor, cluster.url_of(3)};
        co_await client.ready();
        auto const name = cluster.name_on(0, "demoted:");
        auto held = co_await client.lock(name).acquire();
        BOOST_TEST(cluster.probe(0).exists(name));
        auto const scripts_on = [&](std::size_t node) {
            auto stats = cluster.probe(node).commandstats();
            return stats["evalsha"];
        };
        BOOST_TEST(scripts_on(3) == 0);
        wait_for_replica(cluster);
        BOOST_TEST(!cluster.probe(3).cmd("CLUSTER", "FAILOVER").is_error());
        BOOST_TEST(co_await co_eventually(10s, [&] {
            return cluster.probe(0).info("replication")["role"] == "slave";
        }));
        auto next = co_await client.lock("{" + name + "}:next").acquire();
        BOOST_TEST(next.valid());
        auto const at_the_former = scripts_on(0);
        co_await held.renew();
        co_await held.release();
        co_await next.release();
        BOOST_TEST(scripts_on(0) == at_the_former);
        BOOST_TEST(scripts_on(3) > 0);
    });
}

BOOST_AUTO_TEST_CASE(a_cluster_that_does_not_serve_a_slot_is_waited_for) {
    with_replica([](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, settings_of(cluster)};
        co_await client.ready();
        auto const name = cluster.name_on(1, "down:");
        // It has no replica.
        cluster.node(1).kill();
        waiting_acquire waiter{executor, client.lock(name)};
        auto attempt = client.lock(name).try_acquire(as_result);
        auto [ec, lease] = co_await std::move(attempt);
        BOOST_TEST((ec == errc::unreachable || ec == errc::server_refused));
        BOOST_TEST(!waiter.granted());
        cluster.node(1).restart(true);
        BOOST_TEST(co_await co_eventually(50s, [&] { return waiter.granted(); }));
    });
}
