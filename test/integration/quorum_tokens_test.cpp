// The fencing tokens of a lock on several servers grow with every grant, whatever the nodes'
// counters say.

#include "integration/quorum_fixture.hpp"

#include <cstdint>

using namespace holdfast::test;

BOOST_AUTO_TEST_CASE(the_token_is_known_to_a_majority_before_it_is_given_out) {
    with_nodes(5, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto clients = nodes.clients(executor);
        co_await get_to_know(clients);
        auto const lock = clients.lock();
        // One counter runs ahead of all clocks, one is far behind.
        nodes[1].probe().set("redisson_lock_token:{a}", "5000000000000000");
        nodes[2].probe().set("redisson_lock_token:{a}", "1");
        std::uint64_t last = 0;
        for (int i = 0; i < 20; ++i) {
            if (i % 4 == 1) {
                nodes[static_cast<std::size_t>(i) % 5].pause();
            }
            auto lease = co_await lock.acquire();
            for (std::size_t n = 0; n < nodes.size(); ++n) {
                nodes[n].resume();
            }
            BOOST_TEST(lease.token().value > last);
            last = lease.token().value;
            std::size_t know = 0;
            for (std::size_t n = 0; n < nodes.size(); ++n) {
                know += nodes.counter(n) >= last ? 1U : 0U;
            }
            BOOST_TEST(know >= 3U);
            co_await lease.release();
        }
        // What a client proposes is taken by all nodes that it is new to.
        auto const other = clients.lock("b");
        auto once = co_await other.acquire();
        BOOST_TEST(co_await co_eventually(5s, [&] { return once.nodes() == 5U; }));
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            BOOST_TEST(nodes.counter(n, "b") == once.token().value);
            BOOST_TEST(nodes[n].probe().pttl("redisson_lock_token:{b}") > 0);
        }
        co_await once.release();
    });
}

BOOST_AUTO_TEST_CASE(a_counter_at_its_end_or_of_another_kind_is_no_part_of_a_majority) {
    with_nodes(3, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto clients = nodes.clients(executor);
        co_await get_to_know(clients);
        nodes[0].probe().set("redisson_lock_token:{a}", "9007199254740991");
        auto lease = co_await clients.lock().acquire();
        BOOST_TEST(lease.nodes() == 2U);
        co_await lease.release();
        nodes[1].probe().set("redisson_lock_token:{a}", "text");
        auto const [ec, none] = co_await clients.lock().acquire(as_result);
        BOOST_TEST((ec == errc::corrupt_state));
        BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding() == 0U; }));
    });
}

