// A server, and clients in other hosts: packets vanish, and nobody is told.

#include "network_fixture.hpp"

#include <algorithm>
#include <string>

using namespace holdfast::test;

namespace {

constexpr std::size_t server_host = 0;
constexpr auto lease_length = 2s;

// The hosts' own processes wait for processors beside other tests.
constexpr auto slack = 2s;

redis_server start_server(virtual_network& network) {
    return redis_server{{.tcp = true, .place = network[server_host].place()}};
}

holdfast::config settings(redis_server const& server) {
    return short_leases(server.tcp_url(), lease_length);
}

// The ports of the connections with subscriptions that come from this host.
std::vector<std::uint16_t> subscribed_from(redis_server const& server, virtual_host const& host) {
    std::vector<std::uint16_t> ports;
    auto probe = server.probe();
    for (auto& each : probe.client_list()) {
        auto const& from = each["addr"];
        auto const colon = from.rfind(':');
        if (from.substr(0, colon) == host.address() && each["sub"] != "0") {
            ports.push_back(static_cast<std::uint16_t>(std::stoul(from.substr(colon + 1))));
        }
    }
    return ports;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(one_server)

BOOST_AUTO_TEST_CASE(a_holder_that_is_cut_off_loses_its_lease_before_another_client_is_granted_it) {
    with_network(3, [](virtual_network& network, asio::any_io_executor executor) -> task {
        auto const server = start_server(network);
        holdfast::client holder{network[1].executor(), settings(server)};
        holdfast::client other{network[2].executor(), settings(server)};
        auto held = co_await holder.lock("a").acquire();
        auto const lost = watch(executor, held);
        auto const waiting = start_acquire(executor, other.lock("a"), &held);
        co_await until_waiting(holder, 1);
        // Each client is in its host.
        BOOST_TEST(!subscribed_from(server, network[2]).empty());

        network.split({{server_host}, {1}});
        auto const cut = lease_clock::now();
        BOOST_REQUIRE(co_await co_eventually(10s, [&] { return waiting->done; }));
        BOOST_TEST(!waiting->error);
        BOOST_TEST(!waiting->rival_was_valid);
        BOOST_TEST((waiting->at > held.deadline()));
        BOOST_REQUIRE(lost->told);
        BOOST_TEST((lost->at < waiting->at));
        BOOST_TEST((lost->reason == loss_reason::unreachable));
        BOOST_TEST((waiting->at - cut < lease_length + slack));

        // What the former holder says after the cut does no harm.
        network.heal();
        BOOST_TEST((co_await release(held) == errc::lease_lost));
        BOOST_TEST(waiting->held.valid());
        BOOST_TEST(!co_await release(waiting->held));
    });
}

BOOST_AUTO_TEST_CASE(a_waiter_that_is_cut_off_delays_others_by_a_claim_and_goes_on_after_the_cut) {
    with_network(4, [](virtual_network& network, asio::any_io_executor executor) -> task {
        auto const server = start_server(network);
        holdfast::client holder{network[1].executor(), settings(server)};
        holdfast::client cut_off{network[2].executor(), settings(server)};
        holdfast::client next{network[3].executor(), settings(server)};
        auto held = co_await holder.lock("a").acquire();
        auto const first = start_acquire(executor, cut_off.lock("a"));
        co_await until_waiting(holder, 1);
        auto const second = start_acquire(executor, next.lock("a"));
        co_await until_waiting(holder, 2);

        // The lock is handed to the first in line, which does not hear of it, for a claim window:
        // here as long as the lease.
        network.split({{server_host}, {2}});
        auto const cut = lease_clock::now();
        BOOST_TEST(!co_await release(held));
        BOOST_REQUIRE(co_await co_eventually(10s, [&] { return second->done; }));
        BOOST_TEST(second->held.valid());
        BOOST_TEST((second->at - cut < lease_length + slack));
        BOOST_TEST(!first->done);

        // An attempt to connect that is under way takes a sixth of the lease, and the next one
        // begins 2 s later at most.
        network.heal();
        auto const healed = lease_clock::now();
        auto const token = second->held.token();
        BOOST_TEST(!co_await release(second->held));
        BOOST_REQUIRE(co_await co_eventually(10s, [&] { return first->done; }));
        BOOST_TEST(!first->error);
        BOOST_TEST(first->held.valid());
        BOOST_TEST((first->held.token() > token));
        BOOST_TEST((first->at - healed < lease_length / 6 + 2s + slack));
        BOOST_TEST(!co_await release(first->held));
    });
}

BOOST_AUTO_TEST_CASE(
    a_waiter_whose_subscriptions_alone_are_cut_off_gets_the_lock_by_a_new_connection
) {
    with_network(3, [](virtual_network& network, asio::any_io_executor executor) -> task {
        auto const server = start_server(network);
        // Neither a lease nor the fallback poll interval ends within the test.
        auto long_leases = settings(server);
        long_leases.lease = 10min;
        long_leases.fallback_poll_interval = 10min;
        long_leases.request_timeout = 1s;
        long_leases.connect_timeout = 1s;
        long_leases.health_check_interval = 300ms;
        long_leases.reconnect_max = 100ms;
        holdfast::client holder{network[1].executor(), long_leases};
        holdfast::client waiter{network[2].executor(), long_leases};
        auto held = co_await holder.lock("a").acquire();
        auto const waiting = start_acquire(executor, waiter.lock("a"), &held);
        co_await until_waiting(holder, 1);

        auto const ports = subscribed_from(server, network[2]);
        BOOST_REQUIRE(!ports.empty());
        for (auto const port : ports) {
            network.cut_connection(2, port, server_host);
        }
        auto const cut = lease_clock::now();
        BOOST_TEST(!co_await release(held));
        BOOST_REQUIRE(co_await co_eventually(10s, [&] { return waiting->done; }));
        BOOST_TEST(!waiting->error);
        BOOST_TEST(waiting->held.valid());
        BOOST_TEST(!waiting->rival_was_valid);
        // A silent connection is left after twice the health check interval.
        BOOST_TEST((waiting->at - cut < 2 * 300ms + 100ms + slack));
        BOOST_TEST(waiter.stats().reconnects >= 1U);
        BOOST_TEST(holder.stats().reconnects == 0U);
        BOOST_TEST(!co_await release(waiting->held));
    });
}

BOOST_AUTO_TEST_CASE(a_primary_that_is_cut_off_from_its_replicas_soon_grants_and_renews_nothing) {
    with_network(3, [](virtual_network& network, asio::any_io_executor executor) -> task {
        // What min-replicas-to-write promises is counted in whole seconds.
        constexpr auto most_lag = 1s;
        redis_server primary{
            {.tcp = true,
             .extra = {"repl-diskless-sync-delay 0", "repl-ping-replica-period 1"},
             .place = network[server_host].place()}
        };
        redis_server const replica{
            {.tcp = true,
             .extra = {"replicaof " + primary.address() + " " + std::to_string(primary.tcp_port())},
             .place = network[1].place()}
        };
        auto probe = primary.probe();
        auto const replicates = [&] {
            return probe.info("replication")["slave0"].find("state=online") != std::string::npos;
        };
        BOOST_REQUIRE(co_await co_eventually(20s, replicates));
        BOOST_REQUIRE(!probe.cmd("CONFIG", "SET", "min-replicas-max-lag", 1).is_error());
        BOOST_REQUIRE(!probe.cmd("CONFIG", "SET", "min-replicas-to-write", 1).is_error());
        holdfast::client client{network[2].executor(), settings(primary)};
        auto held = co_await client.lock("a").acquire();
        auto const lost = watch(executor, held);

        network.split({{server_host, 2}, {1}});
        auto const cut = lease_clock::now();
        BOOST_REQUIRE(co_await co_eventually(15s, [&] { return lost->told; }));
        // The primary counts its replicas once a second.
        BOOST_TEST((lost->at - cut < most_lag + 2s + lease_length + slack));
        BOOST_TEST((lost->at <= held.deadline()));
        auto const [ec, none] = co_await client.lock("b").try_acquire(as_result);
        BOOST_TEST((ec == errc::server_refused), ec.message());
        BOOST_TEST(!none.valid());
        network.heal();
    });
}

BOOST_AUTO_TEST_SUITE_END()
