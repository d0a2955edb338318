// What a server refuses of a semaphore: foreign data under its keys, full memory, rights that the
// user has not got.

#include "integration/semaphore_fixture.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <string>
#include <vector>

using namespace holdfast::test;
using namespace holdfast::test::permits;
namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_CASE(something_else_under_a_key_is_never_waited_for) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const pool = client.semaphore("L");
        auto const check = [&]() -> task {
            auto const [ec, none] = co_await pool.acquire(as_result);
            BOOST_TEST((ec == errc::corrupt_state));
            auto const [forced, freed] = co_await pool.force_release(as_result);
            BOOST_TEST((forced == errc::corrupt_state));
            auto const [asked, info] = co_await pool.inspect(as_result);
            BOOST_TEST((asked == errc::corrupt_state));
            auto const [counted, free] = co_await pool.available(as_result);
            BOOST_TEST((counted == errc::corrupt_state));
            auto const [set, now] = co_await pool.try_set_permits(3, as_result);
            BOOST_TEST((set == errc::corrupt_state));
        };
        probe.cmd("SET", "L", "three");
        co_await check();
        probe.cmd("DEL", "L");
        probe.cmd("HSET", "L", "mode", "read");
        co_await check();
        BOOST_TEST(probe.hgetall("L").size() == 1U);
        probe.cmd("DEL", "L");
        probe.cmd("SET", "L", "3");
        probe.cmd("SET", deadlines, "mine");
        co_await check();
        BOOST_TEST(probe.get(deadlines).value() == "mine");
        BOOST_TEST(probe.get("L").value() == "3");
        probe.cmd("DEL", deadlines);
        probe.cmd("ZADD", deadlines, 1, "somebody's own");
        auto const [forced, freed] = co_await pool.force_release(as_result);
        BOOST_TEST((forced == errc::corrupt_state));
        BOOST_TEST(probe.exists(deadlines));
    });
}

BOOST_AUTO_TEST_CASE(with_memory_full_permits_come_back_and_those_who_wait_are_served) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, with_patience(server, 400ms)};
        auto probe = server.probe();
        auto const pool = client.semaphore("L");
        auto const two = pool.permits(2);
        BOOST_TEST(co_await pool.try_set_permits(2));
        auto lease = co_await two.acquire({.lease = 1s});
        std::vector<int> served;
        asio::co_spawn(executor, take_in_turn(pool, 1, served), asio::detached);
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 1); }));
        probe.cmd("CONFIG", "SET", "maxmemory", "1");
        auto const [ec, none] = co_await two.try_acquire_for(600ms, as_result);
        BOOST_TEST(!ec, ec.message());
        BOOST_TEST(!none);
        BOOST_TEST(queued(probe, 1));
        co_await sleep_for(1s);
        BOOST_TEST(lease.valid());
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return served.size() == 1; }));
        BOOST_TEST(co_await co_eventually(2s, [&] { return nothing_left(probe, 2); }));
        auto const [refused, nothing] = co_await pool.try_acquire(as_result);
        BOOST_TEST((refused == errc::server_refused));
        probe.cmd("CONFIG", "SET", "maxmemory", "0");
        auto next = co_await pool.acquire();
        co_await next.release();
    });
}

// What the page on the Redis user names.
BOOST_AUTO_TEST_CASE(a_user_needs_some_rights) {
    std::string const keys =
        "resetchannels ~app:* ~{app:* ~holdfast_semaphore_token:{app:* "
        "~holdfast_semaphore_queue:{app:* ~holdfast_semaphore_heard:{app:* "
        "~holdfast_semaphore_hold:{app:* ~redisson_sc:{app:* ~holdfast_semaphore_turns:{app:* "
        "&redisson_sc:{app:* &holdfast_semaphore_turns:{app:* ";
    std::string const commands =
        "+ping +time +evalsha +eval +subscribe +unsubscribe +pttl +set +get +incr +incrby +pexpire "
        "+exists +del +publish +zadd +zrem +zrange +zscore +zcount +zcard +zrangebyscore";
    with_alice(keys + commands, [](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = as_alice(server);
        settings.key_prefix = "app:";
        holdfast::client client{executor, settings};
        holdfast::client other{executor, settings};
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(2));
        auto lease = co_await pool.permits(2).acquire({.lease = holdfast::learned});
        BOOST_TEST(bool(lease));
        std::vector<int> served;
        asio::co_spawn(executor, take_in_turn(other.semaphore("L"), 1, served), asio::detached);
        co_await sleep_for(200ms);
        co_await lease.renew();
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return served.size() == 1; }));
        auto next = co_await pool.acquire();
        BOOST_TEST(co_await pool.force_release());
        auto const info = co_await pool.inspect();
        BOOST_TEST(info.available == 2);
    });
    with_alice("~* &* +@all -zadd", [](redis_server& server, asio::any_io_executor on) -> task {
        holdfast::client client{on, as_alice(server)};
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(1));
        auto const [ec, none] = co_await pool.acquire(as_result);
        BOOST_TEST((ec == errc::no_permission), ec.message());
        BOOST_TEST(co_await pool.available() == 1);
    });
}

// A client that has tried its rights once does not try them again.
BOOST_DATA_TEST_CASE(
    a_right_that_is_taken_away_costs_no_permit,
    data::make({"-pexpire", "-zadd", "-@sortedset", "-incrby", "-pttl"}),
    right
) {
    with_alice("~* &* +@all", [&](redis_server& server, asio::any_io_executor on) -> task {
        holdfast::client client{on, as_alice(server)};
        auto probe = server.probe();
        auto const pool = client.semaphore("L");
        auto const two = pool.permits(2);
        BOOST_TEST(co_await pool.try_set_permits(3));
        probe.cmd("PEXPIRE", "L", 3'600'000);
        auto held = co_await pool.acquire();
        auto before = co_await two.acquire();
        co_await before.release();
        probe.cmd("ACL", "SETUSER", "alice", right);
        auto const [ec, none] = co_await two.acquire(as_result);
        BOOST_TEST((ec == errc::no_permission), ec.message());
        BOOST_TEST(free_permits(probe) == 2);
        BOOST_TEST(probe.cmd("ZCARD", deadlines).as_integer() == 1);
        probe.cmd("ACL", "SETUSER", "alice", "+@all");
        auto next = co_await two.acquire();
        co_await next.release();
        co_await held.release();
        BOOST_TEST(nothing_left(probe, 3));
    });
}

// Another client gives them back.
BOOST_AUTO_TEST_CASE(permits_that_a_client_may_not_give_back_any_more_come_back) {
    with_alice("~* &* +@all", [](redis_server& server, asio::any_io_executor on) -> task {
        holdfast::client client{on, as_alice(server)};
        holdfast::client other{on, server.url()};
        auto probe = server.probe();
        BOOST_TEST(co_await client.semaphore("L").try_set_permits(2));
        auto lease = co_await client.semaphore("L").permits(2).acquire({.lease = 1h});
        probe.cmd("ACL", "SETUSER", "alice", "-incrby");
        auto const [ec] = co_await lease.release(as_result);
        BOOST_TEST((ec == errc::no_permission), ec.message());
        auto next = co_await other.semaphore("L").permits(2).try_acquire();
        BOOST_TEST(bool(next));
        co_await next.release();
        BOOST_TEST(nothing_left(probe, 2));
    });
}
