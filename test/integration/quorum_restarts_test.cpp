// A lock on several servers whose nodes are restarted without their data, lose it, or do not answer
// while it is held.

#include "integration/quorum_fixture.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <future>

using namespace holdfast::test;

namespace {

/// A holder has two nodes of three, and its program stands still. One of them, and the third, are
/// restarted empty. Does another client get the lock?
asio::awaitable<bool> second_holder(
    node_group& nodes,
    asio::any_io_executor executor,
    holdfast::config const& settings
) {
    asio::io_context its_program;
    auto here = nodes.clients(its_program.get_executor(), with_restart_delay(0ms));
    holdfast::quorum_lease lease;
    auto const acquire = [&]() -> task {
        co_await get_to_know(here);
        nodes[2].kill();
        // Long: nothing here takes that long, on a loaded machine either.
        lease = co_await here.lock().acquire({.lease = 50s, .renew = false});
    };
    auto acquired = asio::co_spawn(its_program, acquire, asio::use_future);
    while (acquired.wait_for(0s) != std::future_status::ready) {
        its_program.run_one();
    }
    acquired.get();
    BOOST_TEST(lease.nodes() == 2U);
    nodes[1].restart(false);
    nodes[2].restart(false);
    auto there = nodes.clients(executor, settings);
    co_await there.ready();
    // A single attempt does not wait for a node that is late, and says busy.
    auto const [ec, other] = co_await there.lock().try_acquire_for(2s, as_result);
    BOOST_TEST(lease.valid());
    co_return other.valid();
}

}  // namespace

BOOST_AUTO_TEST_CASE(nodes_that_were_restarted_without_their_data_would_grant_it_twice) {
    with_nodes(3, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto const settings = with_restart_delay(0ms);
        BOOST_TEST(co_await second_holder(nodes, executor, settings));
    });
}

BOOST_AUTO_TEST_CASE(they_are_left_out_until_what_they_forgot_has_ended) {
    with_nodes(3, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto const patient = with_restart_delay(50s);
        BOOST_TEST(!co_await second_holder(nodes, executor, patient));
        // For anybody, and not for ever.
        auto others = nodes.clients(executor, patient);
        co_await others.ready();
        auto const [ec, none] = co_await others.lock("b").try_acquire(as_result);
        BOOST_TEST((ec == errc::quorum_not_reached));
        auto clients = nodes.clients(executor, with_restart_delay(2s));
        auto lease = co_await clients.lock("b").acquire();
        BOOST_TEST(lease.valid());
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(a_lost_node_joins_again_and_a_lost_majority_is_told) {
    with_nodes(5, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto const settings = with_restart_delay(0ms);
        auto clients = nodes.clients(executor, settings);
        co_await get_to_know(clients);
        auto lease = co_await clients.lock().acquire();
        BOOST_TEST(co_await co_eventually(5s, [&] { return lease.nodes() == 5U; }));
        bool told = false;
        loss_reason why = loss_reason::none;
        lease.wait_lost([&](error_code, loss_reason reason) {
            told = true;
            why = reason;
        });
        nodes[0].probe().del("a");
        nodes[1].probe().del("a");
        co_await lease.renew();
        // The majority may have answered before those two.
        BOOST_TEST(lease.nodes() >= 3U);
        BOOST_TEST(lease.valid());
        BOOST_TEST((lease.loss() == loss_reason::none));
        BOOST_TEST(co_await co_eventually(5s, [&] {
            return nodes.holding() == 5U && lease.nodes() == 5U;
        }));
        BOOST_TEST(nodes.counter(0) >= lease.token().value);
        BOOST_TEST(!told);
        // Those that joined later are watched, too.
        for (std::size_t i = 0; i < 3; ++i) {
            nodes[i].probe().del("a");
        }
        auto const [ec] = co_await lease.renew(as_result);
        BOOST_TEST((ec == errc::lease_lost));
        BOOST_TEST(co_await co_eventually(5s, [&] { return told; }));
        BOOST_TEST((why == loss_reason::deleted));
        BOOST_TEST(!lease.valid());
        BOOST_TEST((lease.loss() == loss_reason::deleted));
        auto const [released] = co_await lease.release(as_result);
        BOOST_TEST((released == errc::lease_lost));
        BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding() == 0U; }));
    });
}

BOOST_AUTO_TEST_CASE(nodes_may_be_restarted_one_after_the_other_under_a_lease) {
    with_nodes(3, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto const settings = with_restart_delay(0ms);
        auto clients = nodes.clients(executor, settings);
        co_await get_to_know(clients);
        auto lease = co_await clients.lock().acquire();
        for (std::size_t i = 0; i < 3; ++i) {
            BOOST_TEST(co_await co_eventually(5s, [&] { return lease.nodes() == 3U; }));
            nodes[i].restart(false);
            BOOST_TEST(co_await co_eventually(5s, [&] { return lease.nodes() == 2U; }));
        }
        BOOST_TEST(co_await co_eventually(5s, [&] { return lease.nodes() == 3U; }));
        BOOST_TEST(lease.valid());
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding() == 0U; }));
    });
}

BOOST_AUTO_TEST_CASE(a_majority_that_does_not_answer_is_lost_before_the_deadline) {
    with_nodes(3, [](node_group& nodes, asio::any_io_executor executor) -> task {
        auto const settings = with_restart_delay(0ms);
        auto clients = nodes.clients(executor, settings);
        co_await get_to_know(clients);
        auto lease = co_await clients.lock().acquire();
        ended_quorum lost;
        lease_clock::time_point told{};
        lease.wait_lost([&](error_code, loss_reason) { told = lease_clock::now(); });
        nodes[0].pause();
        nodes[1].pause();
        BOOST_TEST(co_await co_eventually(5s, [&] { return told != lease_clock::time_point{}; }));
        BOOST_TEST((told < lease.deadline()));
        BOOST_TEST(!lease.valid());
        nodes[0].resume();
        nodes[1].resume();
        auto const [ec] = co_await lease.release(as_result);
        BOOST_TEST((ec == errc::lease_lost));
    });
}
