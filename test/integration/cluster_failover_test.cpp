// A Redis Cluster whose primaries die, and whose replicas take over. Each test has a cluster of its
// own, because it does not leave it as it was.

#include "support/one_cluster.hpp"

#include <optional>
#include <string>
#include <thread>

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

// WAIT tells of what its own connection wrote, and so of all that was written before.
void wait_for_replica(redis_cluster& cluster) {
    auto probe = cluster.probe(0);
    auto const name = cluster.name_on(0, "written:");
    BOOST_TEST(eventually(5s, [&] {
        probe.set(name, "1");
        return probe.cmd("WAIT", 1, 1000).as_integer() == 1;
    }));
    probe.del(name);
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

// The replica has nothing of what it was told until now, as if that had not got there in time.
void forget_all(redis_cluster& cluster) {
    wait_for_replica(cluster);
    auto probe = cluster.probe(3);
    BOOST_TEST(!probe.cmd("CONFIG", "SET", "replica-read-only", "no").is_error());
    BOOST_TEST(!probe.cmd("FLUSHALL").is_error());
    BOOST_TEST(!probe.cmd("CONFIG", "SET", "replica-read-only", "yes").is_error());
}

BOOST_AUTO_TEST_CASE(a_lock_that_the_replica_has_not_got_has_failed_over_and_others_are_kept) {
    with_replica([](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        // So long that they are not renewed meanwhile.
        auto settings = holdfast::parse_url(cluster.url());
        settings.lease = 30s;
        holdfast::client client{executor, settings};
        auto const name = [&](char const* text) { return cluster.name_on(0, text); };
        auto gone = co_await client.lock(name("gone:")).acquire();
        auto fixed_gone = co_await client.lock(name("fixed_gone:")).acquire({.renew = false});
        forget_all(cluster);
        auto kept = co_await client.lock(name("kept:")).acquire();
        auto fixed_kept = co_await client.lock(name("fixed_kept:")).acquire({.renew = false});
        auto elsewhere = co_await client.lock(cluster.name_on(1, "elsewhere:")).acquire();
        wait_for_replica(cluster);
        auto const lost = watch(gone);
        auto const lost_fixed = watch(fixed_gone);
        cluster.node(0).kill();
        BOOST_TEST(co_await co_eventually(15s, [&] { return lost->told && lost_fixed->told; }));
        BOOST_TEST((lost->reason == loss_reason::failed_over));
        BOOST_TEST((lost_fixed->reason == loss_reason::failed_over));
        BOOST_TEST((gone.remaining() == 0ns));
        BOOST_TEST(client.stats().losses.failed_over == 2U);
        BOOST_TEST(co_await co_eventually(2s, [&] {
            return kept.state() == lease_state::held && fixed_kept.state() == lease_state::held;
        }));
        BOOST_TEST((elsewhere.state() == lease_state::held));
        BOOST_TEST((co_await release(gone) == errc::lease_lost));
        BOOST_TEST(!co_await release(kept));
        BOOST_TEST(!co_await release(fixed_kept));
    });
}

// Nobody waits for what a stopped primary will answer, once a replica has its place.
BOOST_AUTO_TEST_CASE(a_primary_that_hangs_keeps_nobody_waiting_once_a_replica_has_its_place) {
    with_replica([](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url(cluster.url());
        settings.lease = 30s;
        // No time-out of its own says anything for a long time.
        settings.request_timeout = 8s;
        holdfast::client client{executor, settings};
        auto const name = cluster.name_on(0, "hangs:");
        auto held = co_await client.lock(name).acquire();
        auto elsewhere = co_await client.lock(cluster.name_on(1, "elsewhere:")).acquire();
        wait_for_replica(cluster);
        cluster.node(0).pause();
        waiting_acquire acquires{executor, client.lock("{" + name + "}:next")};
        std::optional<error_code> renewed;
        held.renew([&](error_code ec) { renewed = ec; });
        std::optional<lease_clock::time_point> promoted;
        co_await run_aside([&] {
            auto probe = cluster.probe(3);
            while (probe.info("replication")["role"] != "master") {
                std::this_thread::sleep_for(20ms);
            }
            promoted = lease_clock::now();
        });
        BOOST_TEST(co_await co_eventually(10s, [&] {
            return acquires.granted() && held.state() == lease_state::held && renewed;
        }));
        BOOST_TEST((lease_clock::now() - *promoted < 2s));
        cluster.node(0).resume();
        BOOST_TEST(!co_await release(held));
        co_await acquires.lease().release();
        co_await elsewhere.release();
    });
}

BOOST_AUTO_TEST_CASE(no_lock_is_granted_by_a_replica_that_took_over_before_the_delay_is_over) {
    with_replica([](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        constexpr auto delay = 6s;
        auto settings = settings_of(cluster);
        settings.lock_delay = delay;
        auto const here = cluster.name_on(0, "here:");
        auto const elsewhere = cluster.name_on(1, "elsewhere:");
        auto const took = [](lease_clock::time_point since) { return lease_clock::now() - since; };

        // Nobody has met these nodes.
        auto const start = lease_clock::now();
        holdfast::client client{executor, settings};
        holdfast::client other{executor, settings};
        auto held = co_await client.lock(here).acquire();
        BOOST_TEST((took(start) >= delay));
        auto const free = "{" + elsewhere + "}:free";
        auto warm = co_await other.lock(free).acquire();
        co_await warm.release();
        // Who comes later does not wait again.
        auto const came = lease_clock::now();
        holdfast::client late{executor, settings};
        auto again = co_await late.lock("{" + here + "}:late").acquire();
        BOOST_TEST((took(came) < delay));
        co_await again.release();

        wait_for_replica(cluster);
        auto const killed = lease_clock::now();
        cluster.node(0).kill();
        BOOST_TEST(co_await co_eventually(15s, [&] {
            return cluster.probe(3).info("replication")["role"] == "master";
        }));
        auto const promoted = lease_clock::now();
        // What is held is renewed there, and other nodes grant locks.
        BOOST_TEST(co_await co_eventually(5s, [&] { return held.state() == lease_state::held; }));
        auto meanwhile = co_await other.lock(free).acquire();
        auto [tried, early] =
            co_await other.lock("{" + here + "}:c").try_acquire_for(500ms, as_result);
        BOOST_TEST((tried == errc::server_refused || took(killed) >= delay), tried.message());
        early = {};
        auto granted = co_await other.lock("{" + here + "}:c").acquire();
        BOOST_TEST((took(killed) >= delay));
        BOOST_TEST((took(promoted) < 2 * delay));
        BOOST_TEST(!co_await release(granted));
        BOOST_TEST(!co_await release(meanwhile));
        BOOST_TEST(!co_await release(held));
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
