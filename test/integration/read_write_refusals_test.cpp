// What a server refuses of a read/write lock: foreign data under its key, full memory, rights that
// the user has not got.

#include "integration/read_write_fixture.hpp"

#include <vector>

using namespace holdfast::test;
using namespace holdfast::test::sides;

BOOST_AUTO_TEST_CASE(with_memory_full_those_who_wait_are_served_and_releases_pass) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, with_patience(server, 400ms)};
        holdfast::client other{executor, with_patience(server, 400ms)};
        auto probe = server.probe();
        auto lease = co_await client.read_write_lock("L").write().acquire();
        std::vector<int> served;
        wait_in_background(executor, client.read_write_lock("L").write(), 0, served);
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 1); }));
        wait_in_background(executor, other.read_write_lock("L").read(), 1, served);
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 2); }));
        probe.cmd("CONFIG", "SET", "maxmemory", "1");
        co_await sleep_for(600ms);  // they keep their places
        BOOST_TEST(queued(probe, 2));
        auto const [ec, none] =
            co_await other.read_write_lock("L").write().try_acquire_for(500ms, as_result);
        BOOST_TEST(!ec, ec.message());
        BOOST_TEST(!none);
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return served.size() == 2; }));
        BOOST_TEST(served == (std::vector{0, 1}), boost::test_tools::per_element());
        probe.cmd("CONFIG", "SET", "maxmemory", "0");
        co_await nothing_is_left(probe);
    });
}

BOOST_AUTO_TEST_CASE(a_place_that_would_stay_for_ever_is_not_kept) {
    with_alice("~* &* +@all -pexpire", [](redis_server& server, asio::any_io_executor on) -> task {
        auto probe = server.probe();
        read_from_java(probe, 1s);
        holdfast::client client{on, as_alice(server)};
        auto const [ec, none] =
            co_await client.read_write_lock("L").write().try_acquire_for(500ms, as_result);
        BOOST_TEST((!ec && !none), ec.message());
        BOOST_TEST(client.stats().attempts > 0U);
        BOOST_TEST(!probe.exists(queue));
        BOOST_TEST(!probe.exists(heard));
    });
}

BOOST_AUTO_TEST_CASE(something_else_under_the_key_is_never_waited_for) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const lock = client.read_write_lock("L");
        for (int i = 0; i < 3; ++i) {
            probe.cmd("DEL", "L");
            if (i == 0) {
                probe.cmd("HSET", "L", java_thread, 1);  // an RLock
            } else if (i == 1) {
                probe.cmd("HSET", "L", "mode", "read", "colour", "red");
            } else {
                probe.cmd("SET", "L", "x");
            }
            auto const [read, no_reader] = co_await lock.read().acquire(as_result);
            BOOST_TEST((read == errc::corrupt_state));
            auto const [written, no_writer] = co_await lock.write().acquire(as_result);
            BOOST_TEST((written == errc::corrupt_state));
            auto const [forced, freed] = co_await lock.write().force_release(as_result);
            BOOST_TEST((forced == errc::corrupt_state));
            auto const [seen, info] = co_await lock.read().inspect(as_result);
            BOOST_TEST((seen == errc::corrupt_state));
            BOOST_TEST(probe.exists("L"));
        }
    });
}
