// What is held, waited for and asked for while slots of a Redis Cluster move from node to node.

#include "support/one_cluster.hpp"

#include <string>
#include <vector>

using namespace holdfast::test;

namespace {

holdfast::config settings_of(
    redis_cluster& cluster,
    holdfast::cluster_channel_kind kind = holdfast::cluster_channel_kind::automatic
) {
    auto settings = holdfast::parse_url(cluster.url());
    settings.cluster_channels = kind;
    settings.lease = 2s;
    return settings;
}

std::size_t other_than(std::size_t node) {
    return (node + 1) % 3;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_lock_that_is_held_is_renewed_and_released_where_its_slot_has_gone) {
    with_cluster([](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, settings_of(cluster)};
        auto lease = co_await client.lock("held").acquire();
        auto const slot = redis_cluster::slot_of("held");
        auto const to = other_than(cluster.owner_of(slot));
        auto const before = cluster.errors("MOVED");
        cluster.move(slot, to);
        // Longer than the lease.
        co_await sleep_for(3s);
        BOOST_TEST(lease.valid());
        BOOST_TEST(static_cast<int>(lease.state()) == static_cast<int>(lease_state::held));
        auto probe = cluster.probe(to);
        BOOST_TEST(probe.exists("held"));
        // What has the same slot goes there without asking.
        auto other = co_await client.lock("{held}:other").acquire();
        co_await other.release();
        co_await lease.release();
        BOOST_TEST(!probe.exists("held"));
        BOOST_TEST(cluster.errors("MOVED") - before <= 1);
        BOOST_TEST(cluster.errors("ASK") == 0);
    });
}

// The server that a slot moved to may not have the newest counter.
BOOST_AUTO_TEST_CASE(a_request_that_is_sent_on_gets_a_token_of_that_servers_time) {
    with_cluster([](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, settings_of(cluster)};
        auto first = co_await client.lock("sent on").acquire();
        co_await first.release();
        auto const to = other_than(cluster.owner_of(redis_cluster::slot_of("sent on")));
        cluster.move(redis_cluster::slot_of("sent on"), to);
        auto there = cluster.probe(to);
        auto const now = there.time();
        there.cmd("SET", "redisson_lock_token:{sent on}", to_string(first.token()));
        auto second = co_await client.lock("sent on").acquire();
        BOOST_TEST(second.token().value >= now);
        co_await second.release();
        BOOST_TEST(cluster.errors("MOVED") > 0);
    });
}

HOLDFAST_FOR_CHANNELS(a_waiter_gets_its_lock_after_the_slot_has_moved) {
    with_cluster([kind](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        holdfast::client first{executor, settings_of(cluster, kind)};
        holdfast::client second{executor, settings_of(cluster, kind)};
        for (int round = 0; round < 3; ++round) {
            auto const name = "waits:" + std::to_string(round);
            auto const slot = redis_cluster::slot_of(name);
            auto held = co_await first.lock(name).acquire();
            waiting_acquire waiter{executor, second.lock(name)};
            auto from = cluster.probe_of(name);
            BOOST_TEST(co_await co_eventually(5s, [&] {
                return from.cmd("ZCARD", "holdfast_queue:{" + name + "}").as_integer() == 1;
            }));
            auto const to = other_than(cluster.owner_of(slot));
            cluster.move(slot, to);
            co_await sleep_for(round * 150ms);
            co_await held.release();
            // Long before its holder's lease would have ended.
            BOOST_TEST(co_await co_eventually(1500ms, [&] { return waiter.granted(); }));
            BOOST_TEST(cluster.probe(to).exists(name));
            co_await waiter.lease().release();
        }
    });
}

BOOST_AUTO_TEST_CASE(a_waiter_is_subscribed_where_the_slot_has_gone, *needs_version_7()) {
    constexpr auto kind = holdfast::cluster_channel_kind::sharded;
    with_cluster([](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        holdfast::client first{executor, settings_of(cluster, kind)};
        holdfast::client second{executor, settings_of(cluster, kind)};
        auto const held = co_await first.lock("listens").acquire();
        waiting_acquire waiter{executor, second.lock("listens")};
        auto const channel = "redisson_lock__channel:{listens}";
        auto const heard_by = [&](std::size_t node) {
            return cluster.probe(node).cmd("PUBSUB", "SHARDNUMSUB", channel).as_array()[1].number;
        };
        auto const from = cluster.owner_of("listens");
        BOOST_TEST(co_await co_eventually(5s, [&] { return heard_by(from) == 1; }));
        auto const to = other_than(from);
        cluster.move(redis_cluster::slot_of("listens"), to);
        BOOST_TEST(co_await co_eventually(5s, [&] { return heard_by(to) == 1; }));
        BOOST_TEST(heard_by(from) == 0);
        // It asks again there, and keeps its place.
        auto probe = cluster.probe(to);
        BOOST_TEST(probe.cmd("ZCARD", "holdfast_queue:{listens}").as_integer() == 1);
    });
}

BOOST_AUTO_TEST_CASE(while_a_slot_moves_a_holder_is_renewed_wherever_its_key_is) {
    with_cluster([](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, settings_of(cluster)};
        std::vector<holdfast::lease> leases;
        for (int i = 0; i < 4; ++i) {
            leases.push_back(co_await client.lock("{{moving}}:{}", i).acquire());
        }
        auto const slot = redis_cluster::slot_of("moving");
        auto const from = cluster.owner_of(slot);
        auto const to = other_than(from);
        cluster.begin_move(slot, from, to);
        // Half of them are there, and half are here, for longer than a lease.
        auto at = cluster.probe(from);
        for (auto const* key : {"{moving}:0", "{moving}:1"}) {
            auto const reply =
                at.cmd("MIGRATE", "127.0.0.1", cluster.node(to).tcp_port(), key, 0, 5000);
            BOOST_TEST(!reply.is_error(), reply.text);
        }
        co_await sleep_for(3s);
        for (auto const& each : leases) {
            BOOST_TEST(each.valid());
        }
        BOOST_TEST(cluster.errors("ASK") > 0);
        cluster.move_keys(slot, from, to);
        cluster.end_move(slot, from, to);
        co_await sleep_for(1s);
        for (auto& each : leases) {
            BOOST_TEST(each.valid());
            co_await each.release();
        }
        BOOST_TEST(cluster.probe(to).lock_keys().empty());
    });
}

BOOST_AUTO_TEST_CASE(what_is_asked_for_while_its_slot_moves_is_granted_when_it_has_moved) {
    with_cluster([](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, settings_of(cluster)};
        co_await client.ready();
        auto const slot = redis_cluster::slot_of("later");
        auto const from = cluster.owner_of(slot);
        auto const to = other_than(from);
        cluster.begin_move(slot, from, to);
        waiting_acquire waiter{executor, client.lock("later")};
        co_await sleep_for(500ms);
        BOOST_TEST(!waiter.granted());
        BOOST_TEST(!waiter.error());
        cluster.end_move(slot, from, to);
        BOOST_TEST(co_await co_eventually(4s, [&] { return waiter.granted(); }));
        BOOST_TEST(cluster.probe(to).exists("later"));
        co_await waiter.lease().release();
    });
}

BOOST_AUTO_TEST_CASE(a_command_goes_to_a_wrong_node_once_for_each_change) {
    with_cluster([](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, settings_of(cluster)};
        co_await client.ready();
        auto const slot = redis_cluster::slot_of("often");
        for (int i = 0; i < 6; ++i) {
            auto lease = co_await client.lock("often").acquire();
            co_await lease.release();
            auto const before = cluster.errors("MOVED");
            cluster.move(slot, other_than(cluster.owner_of(slot)));
            for (int j = 0; j < 5; ++j) {
                lease = co_await client.lock("often").acquire();
                co_await lease.release();
            }
            BOOST_TEST(cluster.errors("MOVED") - before <= 1);
        }
    });
}
