// One lock on several servers: whoever has a majority of them has it. A minority may be slow or
// dead.

#include "integration/quorum_fixture.hpp"

#include <cstdint>
#include <vector>

using namespace holdfast::test;
using holdfast::quorum_lease;
using holdfast::quorum_lock;

BOOST_AUTO_TEST_CASE(a_majority_is_enough_and_the_others_join) {
    with_nodes(5, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto clients = nodes.clients(executor);
        co_await get_to_know(clients);
        auto const lock = clients.lock();
        auto lease = co_await lock.acquire();
        BOOST_TEST(lease.valid());
        BOOST_TEST(static_cast<bool>(lease));
        BOOST_TEST((lease.state() == lease_state::held));
        BOOST_TEST((lease.nodes() >= 3U));
        BOOST_TEST((lease.remaining() > 5s));
        BOOST_TEST((lease.remaining() < 10s));
        BOOST_TEST(co_await co_eventually(5s, [&] { return lease.nodes() == 5U; }));
        BOOST_TEST(nodes.holding() == 5U);
        auto const before = lease.deadline();
        co_await sleep_for(20ms);
        co_await lease.renew();
        BOOST_TEST((lease.deadline() > before));
        auto const token = lease.token();
        co_await lease.release();
        BOOST_TEST(!lease);
        BOOST_TEST(lease.nodes() == 0U);
        BOOST_TEST((lease.token() == token));
        BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding() == 0U; }));

        auto next = co_await lock.try_acquire();
        BOOST_TEST((next.token() > token));
        next = {};
        BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding() == 0U; }));
    });
}

BOOST_AUTO_TEST_CASE(another_process_is_refused_until_it_is_released_and_then_told) {
    with_nodes(3, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto here = nodes.clients(executor);
        auto there = nodes.clients(executor);
        co_await get_to_know(here);
        co_await get_to_know(there);
        auto lease = co_await here.lock().acquire();
        auto none = co_await there.lock().try_acquire();
        BOOST_TEST(!none);
        auto const [ec, still_none] = co_await there.lock().try_acquire_for(500ms, as_result);
        BOOST_TEST(!ec);
        BOOST_TEST(!still_none);

        ended_quorum waiting;
        there.lock().acquire(waiting.handler());
        BOOST_TEST(co_await co_eventually(5s, [&] {
            return nodes[0].probe().pubsub_numsub("redisson_lock__channel:{a}") == 1;
        }));
        co_await sleep_for(300ms);
        auto const attempts = there.attempts();
        co_await sleep_for(500ms);
        BOOST_TEST(there.attempts() == attempts);  // it does not poll
        BOOST_TEST(!waiting.done());
        auto const released = lease_clock::now();
        auto const token = lease.token();
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return waiting.done(); }));
        BOOST_TEST(waiting.lease.valid());
        BOOST_TEST((waiting.at - released < 1s));
        BOOST_TEST((waiting.lease.token() > token));
        co_await waiting.lease.release();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            BOOST_TEST(co_await co_eventually(5s, [&] {
                return nodes[i].probe().pubsub_channels("redisson_lock__channel*").empty();
            }));
        }
    });
}

BOOST_AUTO_TEST_CASE(slow_and_dead_nodes_cost_no_time) {
    with_nodes(5, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto clients = nodes.clients(executor);
        auto others = nodes.clients(executor);
        co_await get_to_know(clients);
        co_await get_to_know(others);
        nodes[0].pause();
        nodes[3].kill();
        for (int i = 0; i < 5; ++i) {
            auto const start = lease_clock::now();
            auto lease = co_await clients.lock().acquire();
            BOOST_TEST((lease_clock::now() - start < 500ms));
            BOOST_TEST(lease.nodes() == 3U);
            auto const none = co_await others.lock().try_acquire();
            BOOST_TEST(!none);
            co_await lease.release();
            BOOST_TEST((lease_clock::now() - start < 500ms));
        }
        // What the one that was stopped has granted late, it gets back.
        nodes[0].resume();
        BOOST_TEST(co_await co_eventually(5s, [&] {
            return nodes.holding("a", {0, 1, 2, 4}) == 0U;
        }));
        nodes[3].restart(false);
        co_await clients.shutdown();
        co_await others.shutdown();
    });
}

BOOST_AUTO_TEST_CASE(without_a_majority_nobody_gets_it_and_is_told_in_time) {
    with_nodes(5, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto settings = node_group::settings();
        settings.request_timeout = 500ms;
        auto clients = nodes.clients(executor, settings);
        co_await get_to_know(clients);
        nodes[0].kill();
        nodes[1].kill();
        nodes[2].pause();
        auto start = lease_clock::now();
        auto const [ec, none] = co_await clients.lock().try_acquire(as_result);
        BOOST_TEST((ec == errc::quorum_not_reached));
        BOOST_TEST(!none);
        BOOST_TEST((lease_clock::now() - start < 2s));
        BOOST_TEST(holdfast::is_retryable(ec));
        start = lease_clock::now();
        auto const [again, nothing] = co_await clients.lock().try_acquire_for(800ms, as_result);
        BOOST_TEST((again == errc::quorum_not_reached));
        BOOST_TEST(!nothing);
        BOOST_TEST((lease_clock::now() - start < 2s));
        BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding("a", {3, 4}) == 0U; }));

        ended_quorum waiting;
        clients.lock().acquire(waiting.handler());
        co_await sleep_for(1s);
        BOOST_TEST(!waiting.done());
        nodes[2].resume();
        BOOST_TEST(co_await co_eventually(10s, [&] { return waiting.done(); }));
        BOOST_TEST(waiting.lease.valid());
        co_await waiting.lease.release();
    });
}

BOOST_AUTO_TEST_CASE(what_was_granted_without_a_majority_is_given_back_everywhere) {
    with_nodes(5, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto clients = nodes.clients(executor);
        co_await get_to_know(clients);
        // Other holders of the nodes' own locks.
        std::vector<holdfast::lease> held;
        for (std::size_t i = 0; i < 3; ++i) {
            held.push_back(co_await clients[i].lock("a").acquire());
        }
        auto const none = co_await clients.lock().try_acquire();
        BOOST_TEST(!none);
        BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding("a", {3, 4}) == 0U; }));
        BOOST_TEST(nodes.holding() == 3U);
        co_await held.back().release();
        // What that attempt asked of a slow node may be given back only now, but does not last as
        // long as a lease.
        auto lease = co_await clients.lock().try_acquire_for(5s);
        BOOST_TEST(lease.valid());
        BOOST_TEST(lease.nodes() == 3U);
        auto const busy = co_await clients[4].lock("a").try_acquire();
        BOOST_TEST(!busy);
        co_await lease.release();
        held.clear();
        BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding() == 0U; }));
    });
}

BOOST_AUTO_TEST_CASE(wrong_nodes_are_reported_by_the_operation) {
    node_group nodes{3, {.tcp = true}};
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        auto clients = nodes.clients(executor);
        auto const expect = [](quorum_lock on, errc cause) -> task {
            auto const [ec, lease] = co_await on.acquire(as_result);
            BOOST_TEST((ec == cause));
            BOOST_TEST(!lease);
        };
        auto const a = clients[0].lock("a");
        auto const b = clients[1].lock("a");
        auto const c = clients[2].lock("a");
        quorum_lock const two{a, b};
        quorum_lock const twice{a, b, a};
        quorum_lock const of_two_names{a, b, clients[2].lock("b")};
        std::vector<holdfast::lock> const none;
        std::vector<holdfast::lock> const ten(10, a);
        std::vector<holdfast::lock> const nameless{
            clients[0].lock(""),
            clients[1].lock(""),
            clients[2].lock("")
        };
        co_await expect(two, errc::invalid_options);
        co_await expect(twice, errc::invalid_options);
        co_await expect(of_two_names, errc::invalid_options);
        co_await expect(quorum_lock{none}, errc::invalid_options);
        co_await expect(quorum_lock{ten}, errc::invalid_options);
        co_await expect(quorum_lock{nameless}, errc::invalid_name);
        quorum_lock const all{a, b, c};
        for (auto const& wrong :
             {acquire_options{.lease = holdfast::learned}, acquire_options{.orphan_after = 1s}}) {
            auto const [ec, lease] = co_await all.acquire(wrong, as_result);
            BOOST_TEST((ec == errc::invalid_options));
        }
        auto const [too_short, nothing] = co_await all.acquire({.lease = 1ms}, as_result);
        BOOST_TEST((too_short == errc::invalid_lease));
        BOOST_TEST(clients.attempts() == 0U);

        // One server by two addresses.
        co_await clients.ready();
        auto by_port = node_group::settings();
        by_port.port = nodes[0].tcp_port();
        holdfast::client other{executor, by_port};
        co_await other.ready();
        quorum_lock const hidden{a, b, other.lock("a")};
        co_await expect(hidden, errc::invalid_options);
    });
}

BOOST_AUTO_TEST_CASE(an_even_number_needs_more_than_half) {
    with_nodes(4, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto clients = nodes.clients(executor);
        co_await get_to_know(clients);
        nodes[3].kill();
        auto lease = co_await clients.lock().acquire();
        BOOST_TEST(lease.nodes() == 3U);
        co_await lease.release();
        nodes[2].kill();
        auto const [ec, none] = co_await clients.lock().try_acquire_for(500ms, as_result);
        BOOST_TEST((ec == errc::quorum_not_reached));
    });
}

BOOST_AUTO_TEST_CASE(the_usual_options_and_with_lease) {
    with_nodes(3, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto const settings = with_restart_delay(0ms);
        auto clients = nodes.clients(executor, settings);
        co_await get_to_know(clients);
        auto const lock = clients.lock();
        auto body = [&](quorum_lease& held) -> asio::awaitable<std::uint64_t> {
            BOOST_TEST(held.valid());
            co_return held.token().value;
        };
        BOOST_TEST(co_await holdfast::with_lease(lock, body) > 0U);
        BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding() == 0U; }));

        auto limited = co_await lock.acquire({.max_hold = 2100ms});
        BOOST_TEST(co_await co_eventually(5s, [&] { return !limited.valid(); }));
        BOOST_TEST((limited.loss() == loss_reason::max_hold));
        limited = {};

        auto const me = holdfast::owner::make();
        acquire_options const mine{.owner = me};
        auto first = co_await lock.acquire(mine);
        auto second = co_await lock.acquire(mine);
        BOOST_TEST((second.token() >= first.token()));
        co_await first.release();
        BOOST_TEST(second.valid());
        auto const none = co_await lock.try_acquire();
        BOOST_TEST(!none);
        co_await second.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding() == 0U; }));
    });
}

BOOST_AUTO_TEST_CASE(the_first_client_stops_and_its_waiters_are_told) {
    with_nodes(3, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto holders = nodes.clients(executor);
        auto clients = nodes.clients(executor);
        co_await get_to_know(holders);
        co_await get_to_know(clients);
        auto lease = co_await holders.lock().acquire();
        BOOST_TEST(co_await co_eventually(5s, [&] { return lease.nodes() == 3U; }));
        ended_quorum first;
        ended_quorum second;
        clients.lock().acquire(first.handler());
        clients.lock().acquire(second.handler());
        co_await sleep_for(100ms);
        // Of the nodes, two are enough.
        co_await clients[1].shutdown();
        BOOST_TEST(!first.done());
        co_await clients[0].shutdown();
        BOOST_TEST(co_await co_eventually(5s, [&] { return first.done() && second.done(); }));
        BOOST_TEST((first.ec == errc::client_stopped));
        BOOST_TEST((second.ec == errc::client_stopped));
        // A lease goes on without one of its clients.
        co_await holders[0].shutdown();
        BOOST_TEST(lease.valid());
        BOOST_TEST(lease.nodes() == 2U);
        co_await holders[1].shutdown();
        BOOST_TEST(!lease.valid());
        BOOST_TEST((lease.loss() == loss_reason::client_stopped));
    });
}
