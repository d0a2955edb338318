// Waiting for permits on a real server: who is woken by whom, and those that give up. In what order
// they are granted is judged by the simulation.

#include "integration/semaphore_fixture.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <chrono>
#include <deque>
#include <vector>

using namespace holdfast::test;
using namespace holdfast::test::permits;

BOOST_AUTO_TEST_CASE(what_a_large_grant_leaves_goes_to_the_next_ones_at_once) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        std::deque<holdfast::client> clients;
        for (int i = 0; i < 4; ++i) {
            clients.emplace_back(executor, with_patience(server, 60s));
        }
        auto probe = server.probe();
        auto const pool = clients.front().semaphore("L");
        auto const three = pool.permits(3);
        BOOST_TEST(co_await pool.try_set_permits(3));
        auto lease = co_await three.acquire();
        std::vector<int> served;
        for (int i = 1; i < 4; ++i) {
            auto& client = clients[static_cast<std::size_t>(i)];
            auto const theirs = client.semaphore("L");
            asio::co_spawn(executor, take_in_turn(theirs, i, served, 1s), asio::detached);
            BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, i); }));
        }
        co_await sleep_for(200ms);  // for the attempts after the subscriptions
        // One message for the three.
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return served.size() == 3; }));
        BOOST_TEST(free_permits(probe) == 0);
        BOOST_TEST(co_await co_eventually(5s, [&] { return nothing_left(probe, 3); }));
    });
}

BOOST_AUTO_TEST_CASE(the_waiters_of_one_client_share_a_place_and_are_granted_together) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, with_patience(server, 60s)};
        auto probe = server.probe();
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(3));
        auto const three = pool.permits(3);
        auto lease = co_await three.acquire();
        std::vector<int> served;
        for (int i = 0; i < 3; ++i) {
            asio::co_spawn(executor, take_in_turn(pool, i, served, 1s), asio::detached);
        }
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 1); }));
        co_await sleep_for(200ms);  // for the attempt after the subscription
        BOOST_TEST(queued(probe, 1));
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return served.size() == 3; }));
        BOOST_TEST(free_permits(probe) == 0);
        auto const stats = client.stats();
        BOOST_TEST(stats.grants == 4U);
        BOOST_TEST(stats.hand_overs == 3U);
        BOOST_TEST(co_await co_eventually(5s, [&] { return nothing_left(probe, 3); }));
    });
}

BOOST_AUTO_TEST_CASE(messages_of_java_programs_wake_whoever_waits) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        // Nobody would look by himself soon.
        holdfast::client client{executor, with_patience(server, 60s)};
        auto probe = server.probe();
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(1));
        // addPermits() publishes what it makes of the number, which may be 0 or less.
        for (auto const* const payload : {"1", "2", "0", "-4"}) {
            take_from_java(probe, 10min);
            std::vector<int> served;
            asio::co_spawn(executor, take_in_turn(pool, 1, served), asio::detached);
            BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 1); }));
            co_await sleep_for(100ms);  // for the attempt after the subscription
            probe.cmd("ZREM", deadlines, java_permit);
            probe.cmd("INCRBY", "L", 1);
            probe.publish(channel, payload);
            BOOST_TEST(co_await co_eventually(5s, [&] { return served.size() == 1; }), payload);
            BOOST_TEST(co_await co_eventually(2s, [&] { return nothing_left(probe, 1); }));
        }
    });
}

BOOST_AUTO_TEST_CASE(one_that_gives_up_leaves_the_queue_and_lets_the_next_one_go) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, with_patience(server, 60s)};
        holdfast::client other{executor, with_patience(server, 60s)};
        auto probe = server.probe();
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(2));
        auto lease = co_await pool.acquire();
        asio::cancellation_signal cancel;
        error_code end;
        pool.permits(2).acquire(asio::bind_cancellation_slot(
            cancel.slot(),
            [&end](error_code ec, holdfast::lease) { end = ec; }
        ));
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 1); }));
        std::vector<int> served;
        asio::co_spawn(executor, take_in_turn(other.semaphore("L"), 1, served), asio::detached);
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 2); }));
        co_await sleep_for(200ms);  // for the attempts after the subscriptions
        BOOST_TEST(served.empty());
        cancel.emit(asio::cancellation_type::terminal);
        BOOST_TEST(co_await co_eventually(2s, [&] { return served.size() == 1; }));
        BOOST_TEST((end == asio::error::operation_aborted));
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(2s, [&] { return nothing_left(probe, 2); }));
    });
}
