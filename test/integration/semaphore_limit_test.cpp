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
        // Whether permits were acquired is not known without the number.
        probe.del("L");
        auto const busy = co_await pool.permits(2).try_acquire({.lease = 1s});
        BOOST_TEST(!busy);
        auto last = co_await pool.permits(2).try_acquire_for(4s, {.lease = 1s});
        BOOST_TEST(bool(last));
        co_await last.release();
        // The second line is put off, and written at the end.
        co_await client.shutdown();
        auto const told = [&] { return log.count("2 of 2 permits were missing") == 2; };
        BOOST_TEST(co_await co_eventually(2s, told), log.all());
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

// Memory runs out because of other keys. Which keys are lost is up to the server: all of a
// semaphore's leases are one for two permits, which is older.
BOOST_AUTO_TEST_CASE(evicted_keys_of_semaphores_grant_no_permit_twice) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        log_lines log;
        holdfast::client client{executor, logged_to(log, server)};
        auto probe = server.probe();
        constexpr acquire_options brief{.lease = 3s, .renew = false};
        struct pool_state {
            holdfast::semaphore pool;
            holdfast::lease held;
            bool number = true, set = true, record = true;
        };
        std::vector<pool_state> all;
        std::vector<std::string> count_keys{"EXISTS"};
        for (int i = 0; i < 60; ++i) {
            auto const name = "pool:" + std::to_string(i);
            for (auto const& key :
                 {name, "{" + name + "}:timeout", "{" + name + "}:holdfast_limit"}) {
                count_keys.push_back(key);
            }
            all.push_back({client.semaphore(name).limit(2), {}});
        }
        probe.cmd("EVAL", "for i = 1, 5000 do redis.call('SET', i, string.rep('x', 200)) end", 0);
        probe.cmd("CONFIG", "SET", "maxmemory-policy", "allkeys-random");
        for (auto& one : all) {
            one.held = co_await one.pool.permits(2).acquire(brief);
        }
        probe.cmd("CONFIG", "SET", "maxmemory", probe.info("memory").at("used_memory"));
        auto const left = [&] { return probe.command(count_keys).as_integer(); };
        for (int i = 0; i < 20'000 && (i % 100 != 0 || left() > 120); ++i) {
            probe.cmd("SET", 10'000 + i, std::string(200, 'x'));
        }
        probe.cmd("CONFIG", "SET", "maxmemory", 0);
        BOOST_TEST_REQUIRE(left() <= 120);
        BOOST_TEST_REQUIRE(left() > 0);

        int lost_in_part = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            auto& [pool, held, number, set, record] = all[i];
            number = probe.exists(count_keys[3 * i + 1]);
            set = probe.exists(count_keys[3 * i + 2]);
            record = probe.exists(count_keys[3 * i + 3]);
            bool const any = number || set || record;
            lost_in_part += any && !(number && set && record) ? 1 : 0;
            auto const next = co_await pool.try_acquire(brief);
            if (any && held.valid()) {
                BOOST_TEST(!next, pool.name() << number << set << record);
            }
        }
        BOOST_TEST(lost_in_part > 0);
        co_await sleep_for(3s);
        for (auto& [pool, held, number, set, record] : all) {
            BOOST_TEST(!held.valid());
            auto next = co_await pool.permits(2).try_acquire_for(200ms, brief);
            // Without set and record the lease's length is not known: the default one is waited
            // for.
            bool const waits = number && !set && !record;
            BOOST_TEST(bool(next) == !waits, pool.name() << number << set << record);
        }
    });
}
