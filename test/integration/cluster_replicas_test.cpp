// Grants of a Redis Cluster that count only when replicas have them: where there are some and where
// there are none, while a slot moves, and after a replica took over.

#include "support/one_cluster.hpp"
#include "support/one_server.hpp"

#include <string>

using namespace holdfast::test;

namespace {

holdfast::config waiting_for_one(redis_cluster& cluster) {
    auto settings = holdfast::parse_url(cluster.url());
    settings.lease = 10s;
    settings.replicas = {.count = 1, .timeout = 1s};
    settings.reconnect_max = 200ms;
    return settings;
}

// The first of the primaries have `replicas` replicas: nodes 3, 4, …
void with_replicas(std::size_t replicas, cluster_body const& body) {
    redis_cluster cluster{{.replicas = replicas}};
    run_with_deadline(
        [&](asio::any_io_executor executor) { return body(cluster, std::move(executor)); },
        60s
    );
}

bool replica_has(redis_cluster& cluster, std::size_t node, std::string const& key) {
    auto probe = cluster.probe(node);
    static_cast<void>(probe.cmd("READONLY"));
    return probe.exists(key);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_grant_is_given_out_where_a_replica_has_it_and_nowhere_else) {
    with_replicas(1, [](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, waiting_for_one(cluster)};
        auto const name = cluster.name_on(0, "replicated:");
        auto const alone = cluster.name_on(1, "alone:");
        for (int i = 0; i < 10; ++i) {
            auto held = co_await client.lock(name).acquire();
            BOOST_TEST(replica_has(cluster, 3, name));
            BOOST_TEST(!co_await renew(held));
            BOOST_TEST(!co_await release(held));
        }
        auto const [ec, none] = co_await client.lock(alone).try_acquire(as_result);
        BOOST_TEST((ec == errc::not_replicated), ec.message());
        BOOST_TEST(!none.valid());
        auto probe = cluster.probe(1);
        BOOST_TEST(co_await co_eventually(2s, [&] { return !probe.exists(alone); }));
    });
}

BOOST_AUTO_TEST_CASE(replicas_are_waited_for_at_the_node_that_a_slot_moves_to) {
    with_replicas(2, [](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, waiting_for_one(cluster)};
        auto const name = cluster.name_on(0, "moves:");
        auto const further = "{" + name + "}:further";
        auto const slot = redis_cluster::slot_of(name);
        auto held = co_await client.lock(name).acquire();
        cluster.begin_move(slot, 0, 1);
        cluster.move_keys(slot, 0, 1);
        // Its node sends each renewal on.
        for (int i = 0; i < 3; ++i) {
            BOOST_TEST(!co_await renew(held));
        }
        cluster.end_move(slot, 0, 1);
        BOOST_TEST(!co_await renew(held));
        BOOST_TEST((held.state() == lease_state::held));
        auto next = co_await client.lock(further).acquire();
        BOOST_TEST(replica_has(cluster, 4, further));
        BOOST_TEST(!co_await renew(next));
        BOOST_TEST(!co_await release(next));
        BOOST_TEST(!co_await release(held));
    });
}

BOOST_AUTO_TEST_CASE(what_a_replica_had_is_held_when_it_took_over_and_another_one_follows_it) {
    // Nodes 3 and 6 are replicas of node 0.
    with_replicas(4, [](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, waiting_for_one(cluster)};
        auto const name = cluster.name_on(0, "kept:");
        auto held = co_await client.lock(name).acquire();
        auto const before = held.token();
        auto const lost = watch(held);
        cluster.node(0).kill();
        BOOST_TEST(co_await co_eventually(9s, [&] { return held.state() == lease_state::in_doubt; })
        );
        BOOST_TEST(co_await co_eventually(9s, [&] { return held.state() == lease_state::held; }));
        BOOST_TEST(!lost->told);
        BOOST_TEST(!co_await release(held));
        auto next = co_await client.lock(name).acquire();
        BOOST_TEST(next.token().value > before.value);
        BOOST_TEST(!co_await release(next));
    });
}
