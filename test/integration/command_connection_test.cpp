// The connection that carries scripts dies, or goes silent.

#include "support/one_server.hpp"
#include "support/tcp_proxy.hpp"

#include <memory>

using namespace holdfast::test;

namespace {

constexpr auto channel_of_b = "redisson_lock__channel:{b}";

// Only that connection asks the server for its time.
connection_selector command_connections() {
    return connections_that_sent("TIME");
}

// A client that holds "a" and waits for "b", which another one holds.
struct holder_and_waiter {
    holdfast::lease mine;
    std::shared_ptr<loss> lost;
    holdfast::lease theirs;
    std::shared_ptr<acquisition> waiting;
};

asio::awaitable<holder_and_waiter> hold_and_wait(
    holdfast::client const& client,
    holdfast::client const& other
) {
    holder_and_waiter result;
    result.mine = co_await client.lock("a").acquire();
    result.lost = watch(result.mine);
    result.theirs = co_await other.lock("b").acquire();
    result.waiting = start_acquire(client.lock("b"));
    BOOST_REQUIRE(co_await co_eventually(5s, [&] { return client.stats().refusals >= 2; }));
    co_return result;
}

}  // namespace

BOOST_AUTO_TEST_CASE(idle_connections_are_reset) {
    with_proxy([](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        holdfast::client other{executor, server.url()};
        holdfast::client client{executor, short_leases(proxy.url(), 3s)};
        auto probe = server.probe();
        auto both = co_await hold_and_wait(client, other);
        auto& [mine, lost, theirs, waiting] = both;
        auto const subscribed = [&] { return probe.pubsub_numsub(channel_of_b) == 1; };
        auto const before = client.stats();

        proxy.cut(cut_kind::rst);
        auto const both_again = [&] { return client.stats().reconnects == before.reconnects + 2; };
        BOOST_REQUIRE(co_await co_eventually(5s, both_again));
        BOOST_TEST(co_await co_eventually(5s, subscribed));
        BOOST_TEST(co_await co_eventually(5s, [&] { return mine.state() == lease_state::held; }));
        // The waiter looked again, and sleeps.
        auto const looked = [&] { return client.stats().refusals > before.refusals; };
        BOOST_TEST(co_await co_eventually(2s, looked));
        BOOST_TEST(!waiting->done);
        BOOST_TEST(!lost->told);

        BOOST_TEST(!co_await release(theirs));
        BOOST_TEST(co_await co_eventually(2s, [&] { return waiting->done; }));
        BOOST_TEST(waiting->held.valid());
        BOOST_TEST(!co_await release(mine));
        BOOST_TEST(!co_await release(waiting->held));
    });
}

BOOST_AUTO_TEST_CASE(both_connections_are_half_open) {
    with_proxy([](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, short_leases(proxy.url(), 2s)};
        holdfast::client other{executor, short_leases(server.url(), 2s)};
        auto both = co_await hold_and_wait(client, other);
        auto& [held, lost, theirs, waiting] = both;
        auto const next = start_acquire(other.lock("a"), {}, &held);
        co_await sleep_for(300ms);

        proxy.set_mode(proxy_mode::drop());
        auto const doubted = [&] { return held.state() == lease_state::in_doubt; };
        BOOST_TEST(co_await co_eventually(3s, doubted));
        BOOST_TEST(held.valid());
        BOOST_REQUIRE(co_await co_eventually(5s, [&] { return lost->told; }));
        BOOST_TEST((lost->reason == loss_reason::unreachable));
        BOOST_TEST((lost->at < held.deadline()));
        BOOST_TEST(!held.valid());

        BOOST_REQUIRE(co_await co_eventually(5s, [&] { return next->done; }));
        BOOST_TEST(next->held.valid());
        BOOST_TEST(!next->rival_was_valid);
        BOOST_TEST((next->at > lost->at));
        BOOST_TEST(next->held.token().value > held.token().value);

        BOOST_TEST(!co_await release(theirs));
        co_await sleep_for(200ms);
        BOOST_TEST(!waiting->done);
        proxy.set_mode(proxy_mode::forward());
        BOOST_TEST(co_await co_eventually(8s, [&] { return waiting->done; }));
        BOOST_TEST(waiting->held.valid());

        BOOST_TEST((co_await release(held) == errc::lease_lost));
        BOOST_TEST(next->held.valid());
        BOOST_TEST(server.probe().exists("a"));
    });
}

BOOST_AUTO_TEST_CASE(the_command_connection_dies_alone) {
    with_proxy([](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        holdfast::client other{executor, server.url()};
        auto settings = short_leases(proxy.url(), 6s);
        settings.reconnect_max = 200ms;
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        auto both = co_await hold_and_wait(client, other);
        auto& [mine, lost, theirs, waiting] = both;
        auto const subscribed = [&] { return probe.pubsub_numsub(channel_of_b) == 1; };

        proxy.refuse_new(true);
        proxy.cut(cut_kind::rst, command_connections());
        // Before the next renewal, which would notice it too.
        BOOST_TEST(co_await co_eventually(1s, [&] { return mine.state() == lease_state::in_doubt; })
        );
        BOOST_TEST(mine.valid());
        BOOST_TEST(subscribed());
        BOOST_TEST(proxy.active() == 1U);
        auto const deadline = mine.deadline();
        // The notification comes. The waiter tries again as soon as there is a connection.
        BOOST_TEST(!co_await release(theirs));
        co_await sleep_for(200ms);
        BOOST_TEST(!waiting->done);

        proxy.refuse_new(false);
        BOOST_TEST(co_await co_eventually(3s, [&] { return waiting->done; }));
        BOOST_TEST(waiting->held.valid());
        BOOST_TEST(co_await co_eventually(3s, [&] { return mine.state() == lease_state::held; }));
        BOOST_TEST((mine.deadline() > deadline));
        BOOST_TEST(!lost->told);
        BOOST_TEST(client.stats().reconnects == 1U);
        BOOST_TEST(!co_await release(mine));
        BOOST_TEST(!probe.exists("a"));
    });
}

BOOST_AUTO_TEST_CASE(operations_end_in_time_while_the_command_connection_is_down) {
    with_proxy([](redis_server& server, tcp_proxy& proxy, asio::any_io_executor executor) -> task {
        auto settings = short_leases(proxy.url(), 6s);  // request time-out: 1 s
        settings.reconnect_max = 200ms;
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        auto held = co_await client.lock("a").acquire();
        proxy.refuse_new(true);
        proxy.cut(cut_kind::rst, command_connections());
        BOOST_TEST(co_await co_eventually(1s, [&] { return held.state() == lease_state::in_doubt; })
        );

        auto start = lease_clock::now();
        auto [ec, nothing] = co_await client.lock("b").try_acquire(as_result);
        BOOST_TEST((ec == errc::unreachable));
        BOOST_TEST(!nothing);
        BOOST_TEST(((lease_clock::now() - start) >= 900ms));
        BOOST_TEST(((lease_clock::now() - start) < 1s + 500ms));

        // Two request time-outs, and then it goes on without its caller.
        auto const waiting = start_acquire(client.lock("b"));
        start = lease_clock::now();
        BOOST_TEST((co_await release(held) == errc::release_unknown));
        BOOST_TEST(((lease_clock::now() - start) >= 1900ms));
        BOOST_TEST(((lease_clock::now() - start) < 2s + 700ms));
        BOOST_TEST(!held);
        BOOST_TEST(!waiting->done);
        BOOST_TEST(probe.exists("a"));
        proxy.refuse_new(false);
        BOOST_TEST(co_await co_eventually(1s, [&] { return !probe.exists("a"); }));
        BOOST_TEST(co_await co_eventually(1s, [&] { return waiting->done; }));
        BOOST_TEST(waiting->held.valid());
    });
}

// The server writes first to the client that it has had something for last. What a check costs is
// gained by the waiter: its process need not wait until the releaser's has been served.
BOOST_AUTO_TEST_CASE(a_check_leaves_before_a_release_that_one_client_waits_for) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client left{executor, server.url()};
        holdfast::client right{executor, server.url()};
        auto held = co_await left.lock("a").acquire();
        auto const waits = start_acquire(right.lock("a"));
        BOOST_REQUIRE(co_await co_eventually(5s, [&] { return right.stats().refusals >= 2; }));
        BOOST_TEST(!co_await release(held));
        BOOST_REQUIRE(co_await co_eventually(5s, [&] { return waits->done; }));
        auto const claimed = [&] { return right.stats().claims_confirmed == 1; };
        BOOST_REQUIRE(co_await co_eventually(5s, claimed));
        auto const waits_again = start_acquire(left.lock("a"));
        auto const refused = left.stats().refusals;
        BOOST_REQUIRE(co_await co_eventually(5s, [&] { return left.stats().refusals > refused; }));
        co_await sleep_for(100ms);  // the message that somebody waits
        auto const before = right.stats().commands;
        BOOST_TEST(!co_await release(waits->held));
        BOOST_TEST(right.stats().commands == before + 2);
        BOOST_REQUIRE(co_await co_eventually(5s, [&] { return waits_again->done; }));
        BOOST_TEST(left.stats().hand_overs_by.other_client == 1U);
        // Nobody waits.
        auto const after = left.stats().commands;
        BOOST_TEST(co_await co_eventually(5s, [&] { return left.stats().claims_confirmed == 1; }));
        BOOST_TEST(!co_await release(waits_again->held));
        BOOST_TEST(left.stats().commands <= after + 2);
    });
}

BOOST_AUTO_TEST_CASE(the_server_kills_the_command_connection) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, short_leases(server.url(), 3s)};
        auto probe = server.probe();
        auto held = co_await client.lock("a").acquire();
        auto const lost = watch(held);
        for (int round = 0; round < 5; ++round) {
            auto const before = client.stats();
            auto const deadline = held.deadline();
            BOOST_TEST(probe.client_kill_type("normal") >= 1);
            // An attempt meets the dead connection.
            auto lease = co_await client.lock("b").acquire();
            BOOST_TEST(lease.valid());
            BOOST_TEST(client.stats().reconnects > before.reconnects);
            // The lock is renewed on the new one without waiting for its turn.
            auto const renewed = [&] { return held.deadline() > deadline; };
            BOOST_TEST(co_await co_eventually(2s, renewed));
            BOOST_TEST((held.state() == lease_state::held));
            BOOST_TEST(!co_await release(lease));
        }
        BOOST_TEST(!lost->told);
        BOOST_TEST(!co_await release(held));
        BOOST_TEST(probe.keys("[ab]").empty());
    });
}
