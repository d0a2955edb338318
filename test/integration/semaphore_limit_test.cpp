// How many permits there are on a real server that lost a part of its data, or all of it, and after
// others changed the limit.

#include "integration/semaphore_fixture.hpp"
#include "support/log_lines.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace holdfast::test;
using namespace holdfast::test::permits;

namespace {

holdfast::config logged_to(log_lines& log, redis_server const& server) {
    auto settings = with_patience(server, 200ms);
    settings.log = log.sink();
    return settings;
}

}  // namespace

BOOST_AUTO_TEST_CASE(without_a_number_an_acquisition_ends) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.available() == 0);
        auto const before = co_await pool.inspect();
        BOOST_TEST(!before.limit.has_value());
        auto const [ec, none] = co_await pool.acquire(as_result);
        BOOST_TEST((ec == errc::permits_not_set));
        auto const [limited, nothing] = co_await pool.try_acquire_for(1h, as_result);
        BOOST_TEST((limited == errc::permits_not_set));
        BOOST_TEST(probe.lock_keys().empty());
        auto lease = co_await pool.limit(2).acquire();
        BOOST_TEST(free_permits(probe) == 1);
        auto next = co_await pool.acquire();
        auto const info = co_await pool.inspect();
        BOOST_TEST(info.limit.value() == 2);
        BOOST_TEST(probe.get(limit_record).value() == "2 30000");
        co_await lease.release();
        co_await next.release();
        BOOST_TEST(nothing_left(probe, 2));
    });
}

BOOST_AUTO_TEST_CASE(waiters_go_on_after_flushall_and_after_an_empty_restart) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        log_lines log;
        holdfast::client client{executor, logged_to(log, server)};
        holdfast::client other{executor, logged_to(log, server)};
        auto const pool = client.semaphore("L").limit(1);
        for (bool const restarts : {false, true}) {
            auto held = co_await pool.acquire({.lease = 1s});
            std::vector<int> served;
            auto const theirs = other.semaphore("L").limit(1);
            asio::co_spawn(executor, take_in_turn(theirs, 1, served), asio::detached);
            auto probe = server.probe();
            BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 1); }));
            if (restarts) {
                server.restart(false);
            } else {
                probe.cmd("FLUSHALL");
            }
            BOOST_TEST(co_await co_eventually(5s, [&] { return served.size() == 1; }));
            auto const [ec] = co_await held.release(as_result);
            BOOST_TEST((ec == errc::lease_lost));
            auto again = server.probe();
            BOOST_TEST(co_await co_eventually(2s, [&] { return nothing_left(again, 1); }));
        }
        BOOST_TEST(log.count("permits were missing") == 0U);
    });
}

BOOST_AUTO_TEST_CASE(permits_of_a_deleted_set_come_back_after_the_longest_lease) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        log_lines log;
        holdfast::client client{executor, logged_to(log, server)};
        auto probe = server.probe();
        auto const pool = client.semaphore("L").limit(2);
        auto held = co_await pool.permits(2).acquire({.lease = 2s, .renew = false});
        probe.del(deadlines);
        BOOST_TEST(!co_await pool.try_set_permits(2));
        auto next = co_await pool.permits(2).acquire({.lease = 1s});
        BOOST_TEST(!held.valid());
        BOOST_TEST(log.count(log_level::warning, "2 of 2 permits were missing") == 1U);
        co_await next.release();
        BOOST_TEST(nothing_left(probe, 2));
        // Nothing was acquired, and nothing is missing.
        probe.del("L");
        auto last = co_await pool.permits(2).try_acquire();
        BOOST_TEST(bool(last));
        co_await last.release();
    });
}

BOOST_AUTO_TEST_CASE(others_change_the_limit) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        log_lines log;
        holdfast::client client{executor, logged_to(log, server)};
        auto probe = server.probe();
        auto const pool = client.semaphore("L").limit(2);
        auto first = co_await pool.acquire();
        // As Redisson's addPermits(2).
        probe.cmd("INCRBY", "L", 2);
        auto second = co_await pool.permits(3).try_acquire();
        BOOST_TEST(bool(second));
        BOOST_TEST(log.count(log_level::warning, "the server's limit of 4 permits applies") == 1U);
        // As its setPermits(3).
        probe.cmd("INCRBY", "L", -1);
        auto const [ec, none] = co_await pool.permits(4).try_acquire(as_result);
        BOOST_TEST((ec == errc::invalid_options));
        co_await second.release();
        co_await first.release();
        BOOST_TEST(nothing_left(probe, 3));
        auto const [other, now] = co_await pool.try_set_permits(2, as_result);
        BOOST_TEST((other == errc::limit_mismatch));
        // Its trySetPermits(5), after the number was lost.
        probe.del("L");
        probe.cmd("SET", "L", 5, "NX");
        auto all = co_await pool.permits(5).try_acquire();
        BOOST_TEST(bool(all));
        co_await all.release();
        BOOST_TEST(log.count(log_level::warning) == 1U);
    });
}

// As a server does it that evicts keys, which holdfast warns of.
BOOST_AUTO_TEST_CASE(a_semaphore_that_loses_some_of_its_keys_is_never_dead) {
    with_server(
        [](redis_server& server, asio::any_io_executor executor) -> task {
            log_lines log;
            holdfast::client client{executor, logged_to(log, server)};
            auto probe = server.probe();
            auto const seed = std::random_device{}();
            BOOST_TEST_MESSAGE("seed " << seed);
            std::mt19937 dice{seed};
            auto const pool = client.semaphore("L").limit(2);
            // If set and record are lost, the permits are free after 30 s, the default lease.
            for (int run = 0; run < 4; ++run) {
                acquire_options const brief{.lease = 1s, .renew = false};
                auto held = co_await pool.permits(2).try_acquire_for(5s, brief);
                for (auto const& key : {std::string{"L"}, deadlines, limit_record, counter}) {
                    if (dice() % 2 == 0) {
                        probe.del(key);
                    }
                }
                auto next = co_await pool.acquire(brief);
                BOOST_TEST(next.valid());
                held = {};
                co_await next.release(as_result);
                probe.cmd("FLUSHALL");
            }
        },
        150s
    );
}
