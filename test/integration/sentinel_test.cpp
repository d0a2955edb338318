// The primary that Sentinels name: it is found, followed through failovers, and left when it does
// not answer any more.

#include "support/one_server.hpp"
#include "support/sentinel_group.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

using namespace holdfast::test;

namespace {

using group_body = std::function<task(sentinel_group&, asio::any_io_executor)>;

void with_group(group_options options, group_body const& body) {
    sentinel_group group{std::move(options)};
    run_with_deadline(
        [&](asio::any_io_executor executor) { return body(group, std::move(executor)); },
        100s
    );
}

holdfast::config settings_for(sentinel_group const& group) {
    auto settings = short_leases(group.url(), 5min);
    settings.reconnect_max = 200ms;
    return settings;
}

// The connections of clients of this library, as this server sees them.
std::size_t clients_of(redis_server const& server) {
    auto probe = server.probe();
    auto const all = probe.client_list();
    return static_cast<std::size_t>(std::ranges::count_if(all, [](auto const& each) {
        return each.at("name").starts_with("holdfast:");
    }));
}

task see_that_it_works(holdfast::client& client, std::string const& name) {
    auto lease = co_await client.lock(name).acquire();
    BOOST_TEST(lease.valid());
    BOOST_TEST(!co_await release(lease));
}

struct node {
    redis_server* server;
    holdfast::config settings;
};

// A quorum lock and a multi-lock take clients of different ones, and no two clients of one.
void see_that_they_differ(std::vector<node> const& nodes) {
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        std::vector<holdfast::client> clients;
        for (auto const number : {0U, 1U, 2U, 2U}) {
            auto settings = nodes[number].settings;
            settings.restart_delay = 0ms;
            clients.emplace_back(executor, settings);
            co_await clients.back().ready();
        }
        auto& a = clients[0];
        auto& b = clients[1];
        auto& c = clients[2];
        auto& same = clients[3];
        holdfast::quorum_lock const all{a.lock("q"), b.lock("q"), c.lock("q")};
        auto held = co_await all.acquire();
        BOOST_TEST(held.valid());
        for (auto const& each : nodes) {
            // A majority is enough for the grant.
            BOOST_TEST(co_await co_eventually(5s, [&] { return each.server->probe().exists("q"); })
            );
        }
        co_await held.release();
        holdfast::multi_lock const both{a.lock("m"), b.lock("m")};
        auto of_both = co_await both.acquire();
        BOOST_TEST(of_both.valid());
        BOOST_TEST(nodes[1].server->probe().exists("m"));
        co_await of_both.release();

        holdfast::quorum_lock const twice{a.lock("q"), c.lock("q"), same.lock("q")};
        auto [ec, none] = co_await twice.acquire(as_result);
        BOOST_TEST((ec == errc::invalid_options), ec.message());
        holdfast::multi_lock const one{c.lock("m"), same.lock("m")};
        auto [wrong, nothing] = co_await one.acquire(as_result);
        BOOST_TEST((wrong == errc::invalid_options), wrong.message());
    });
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_primary_is_found_by_its_name) {
    with_group({.replicas = 1}, [](sentinel_group& group, asio::any_io_executor executor) -> task {
        log_lines log;
        auto settings = settings_for(group);
        settings.log = log.sink();
        holdfast::client client{executor, settings};
        co_await client.ready();
        auto lease = co_await client.lock("a").acquire();
        BOOST_TEST(lease.valid());
        BOOST_TEST(group.server(0).probe().exists("a"));
        BOOST_TEST(clients_of(group.server(0)) == 2U);
        BOOST_TEST(clients_of(group.server(1)) == 0U);
        auto const address = "127.0.0.1:" + std::to_string(group.server(0).tcp_port());
        BOOST_TEST(log.count("the primary \"mymaster\" is " + address) == 1U);
        BOOST_TEST(log.count(log_level::warning) == 0U, log.all());
        BOOST_TEST(!co_await release(lease));
        co_await client.shutdown();
        // Nothing stays at the Sentinels.
        BOOST_TEST(co_await co_eventually(10s, [&] {
            return clients_of(group.sentinel(0)) + clients_of(group.sentinel(1)) == 0;
        }));
    });
}

// Their settings have the same host and port, which mean nothing.
BOOST_AUTO_TEST_CASE(three_deployments_make_up_a_quorum_and_have_a_name_each) {
    sentinel_group first{{.replicas = 0, .sentinels = 1}};
    sentinel_group second{{.replicas = 0, .sentinels = 1}};
    sentinel_group third{{.replicas = 0, .sentinels = 1}};
    see_that_they_differ({
        {&first.server(0), settings_for(first)},
        {&second.server(0), settings_for(second)},
        {&third.server(0), settings_for(third)},
    });
}

BOOST_AUTO_TEST_CASE(primaries_that_the_same_sentinels_watch_make_up_a_quorum) {
    sentinel_group group{{.replicas = 0, .sentinels = 1}};
    redis_server second{{.tcp = true}};
    redis_server third{{.tcp = true}};
    auto const watched = [&](redis_server& server, std::string const& name) {
        auto const port = server.tcp_port();
        auto sentinel = group.sentinel(0).probe();
        auto const reply = sentinel.cmd("SENTINEL", "MONITOR", name, "127.0.0.1", port, 1);
        BOOST_REQUIRE_MESSAGE(!reply.is_error(), reply.describe());
        auto settings = settings_for(group);
        settings.primary_name = name;
        return node{&server, settings};
    };
    see_that_they_differ(
        {{&group.server(0), settings_for(group)}, watched(second, "stock"), watched(third, "orders")
        }
    );
}

BOOST_AUTO_TEST_CASE(a_failover_on_command_takes_the_client_and_its_lock_along) {
    with_group({}, [](sentinel_group& group, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, settings_for(group)};
        holdfast::client other{executor, settings_for(group)};
        auto held = co_await client.lock("a").acquire();
        auto const lost = watch(held);
        auto const waiting = start_acquire(other.lock("a"), {}, &held);
        auto leads = co_await client.election("E").campaign("here");
        auto observer = other.election("E").observe();
        BOOST_TEST((co_await observer.next()).value == "here");
        co_await sleep_for(300ms);

        std::optional<std::size_t> now;
        co_await run_aside([&] {
            group.fail_over();
            now = group.wait_for_switch(0);
        });
        BOOST_REQUIRE(now.has_value());
        BOOST_TEST(co_await co_eventually(10s, [&] { return clients_of(group.server(*now)) == 4; })
        );
        BOOST_TEST(co_await co_eventually(10s, [&] { return held.state() == lease_state::held; }));
        BOOST_TEST(co_await co_eventually(10s, [&] { return clients_of(group.server(0)) == 0; }));
        BOOST_TEST(!lost->told);
        BOOST_TEST(!waiting->done);
        BOOST_TEST(!co_await release(held));
        BOOST_TEST(co_await co_eventually(10s, [&] { return waiting->done; }));
        BOOST_TEST(!waiting->rival_was_valid);
        BOOST_TEST(waiting->held.valid());
        BOOST_TEST(waiting->held.token().value > held.token().value);
        BOOST_TEST(!co_await release(waiting->held));

        BOOST_TEST(leads.valid());
        auto const who = co_await other.election("E").leader();
        BOOST_TEST(who.value == "here");
        BOOST_TEST((who.term == leads.term()));
        co_await leads.resign();
        BOOST_TEST(!(co_await observer.next()));
    });
}

BOOST_AUTO_TEST_CASE(after_a_primary_was_killed_locks_are_granted_by_the_next) {
    with_group({}, [](sentinel_group& group, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, settings_for(group)};
        co_await see_that_it_works(client, "a");
        auto const waiting = start_acquire(client.lock("b"));
        BOOST_TEST(co_await co_eventually(10s, [&] { return waiting->done; }));
        std::optional<std::size_t> now;
        co_await run_aside([&] {
            group.server(0).kill();
            now = group.wait_for_switch(0);
        });
        BOOST_REQUIRE(now.has_value());
        auto const switched = lease_clock::now();
        co_await see_that_it_works(client, "c");
        BOOST_TEST((lease_clock::now() - switched < 10s));
        BOOST_TEST(group.server(*now).probe().exists("b"));

        // It comes back as a replica, and nobody goes there.
        co_await run_aside([&] {
            group.server(0).restart(false);
            BOOST_TEST(group.wait_until_whole());
        });
        co_await see_that_it_works(client, "d");
        BOOST_TEST(clients_of(group.server(0)) == 0U);
        BOOST_TEST(!co_await release(waiting->held));
    });
}

// It still accepts connections and takes what is sent: only the Sentinels know better.
BOOST_AUTO_TEST_CASE(a_primary_that_is_paused_is_left_when_the_sentinels_have_switched) {
    with_group({}, [](sentinel_group& group, asio::any_io_executor executor) -> task {
        auto settings = short_leases(group.url(), 5min);
        // No time-out of the client's own would come so soon.
        settings.request_timeout = settings.health_check_interval = 20s;
        holdfast::client client{executor, settings};
        auto held = co_await client.lock("a").acquire();
        std::optional<std::size_t> now;
        group.server(0).pause();
        co_await run_aside([&] { now = group.wait_for_switch(0); });
        BOOST_REQUIRE(now.has_value());
        auto const switched = lease_clock::now();
        co_await see_that_it_works(client, "b");
        BOOST_TEST((lease_clock::now() - switched < 10s));
        BOOST_TEST(co_await co_eventually(10s, [&] { return held.state() == lease_state::held; }));
        BOOST_TEST(clients_of(group.server(*now)) == 2U);
        group.server(0).resume();
        BOOST_TEST(!co_await release(held));
        BOOST_TEST(!group.server(*now).probe().exists("a"));
        BOOST_TEST(co_await co_eventually(10s, [&] { return clients_of(group.server(0)) == 0; }));
    });
}

BOOST_AUTO_TEST_CASE(one_failover_after_the_other_is_followed) {
    with_group({}, [](sentinel_group& group, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, settings_for(group)};
        auto held = co_await client.lock("a").acquire();
        auto last = held.token().value;
        for (int i = 0; i < 3; ++i) {
            std::optional<std::size_t> now;
            co_await run_aside([&] {
                BOOST_TEST(group.wait_until_whole());
                auto const before = group.primary();
                group.fail_over();
                now = group.wait_for_switch(before);
            });
            BOOST_REQUIRE(now.has_value());
            auto lease = co_await client.lock("b").acquire();
            BOOST_TEST(lease.token().value > last);
            last = lease.token().value;
            BOOST_TEST(!co_await release(lease));
        }
        BOOST_TEST(held.valid());
        BOOST_TEST(!co_await release(held));
    });
}
