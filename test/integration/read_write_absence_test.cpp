// Readers, writers and waiters of a read/write lock that died or gave up: what they leave ends by
// itself, and holds the others up for no longer than it must.

#include "integration/read_write_fixture.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <vector>

using namespace holdfast::test;
using namespace holdfast::test::sides;

BOOST_AUTO_TEST_CASE(the_holds_of_readers_that_died_end_by_themselves_and_do_not_cut_others) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto probe = server.probe();
        read_from_java(probe, 600ms);
        auto ours = co_await client.read_write_lock("L").read().acquire({.lease = 3s});
        auto const info = co_await client.read_write_lock("L").read().inspect();
        BOOST_TEST(info.readers == 2U);
        BOOST_TEST(co_await co_eventually(5s, [&] { return !probe.exists(hold_of_java); }));
        BOOST_TEST(ours.valid());
        auto const later = co_await client.read_write_lock("L").read().inspect();
        BOOST_TEST(later.readers == 1U);
        // Whoever asks removes what they left.
        auto none = co_await client.read_write_lock("L").write().try_acquire();
        BOOST_TEST(!none);
        BOOST_TEST(probe.cmd("HEXISTS", "L", java_thread).as_integer() == 0);
        BOOST_TEST(ours.valid());
        co_await ours.release();

        read_from_java(probe, 400ms);
        // Its lock would live for longer.
        probe.cmd("PEXPIRE", "L", 100'000);
        auto writer = co_await client.read_write_lock("L").write().acquire();
        BOOST_TEST(writer.valid());
        BOOST_TEST(probe.cmd("HLEN", "L").as_integer() == 2);
        co_await writer.release();
        co_await nothing_is_left(probe);
    });
}

BOOST_AUTO_TEST_CASE(a_reader_keeps_the_lock_alive_that_another_ones_watchdog_shortened) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto probe = server.probe();
        auto lease = co_await client.read_write_lock("L").read().acquire({.lease = 3s});
        read_from_java(probe, 60s);
        // As the watchdog of a reader that dies then.
        probe.cmd("PEXPIRE", "L", 1'500);
        probe.cmd("DEL", hold_of_java);
        co_await sleep_for(2500ms);
        BOOST_TEST(lease.valid());
        BOOST_TEST(probe.cmd("PTTL", "L").as_integer() > 0);
        co_await lease.release();
        co_await nothing_is_left(probe);
    });
}

BOOST_AUTO_TEST_CASE(one_that_gives_up_leaves_its_place_and_those_behind_it_go_on) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        // Nobody would look by himself soon.
        auto settings = with_patience(server, 60s);
        settings.fallback_poll_interval = 1h;
        holdfast::client client{executor, settings};
        holdfast::client other{executor, settings};
        holdfast::client third{executor, settings};
        auto probe = server.probe();
        auto lease = co_await client.read_write_lock("L").read().acquire();
        asio::cancellation_signal cancel;
        error_code end;
        other.read_write_lock("L").write().acquire(asio::bind_cancellation_slot(
            cancel.slot(),
            [&end](error_code ec, holdfast::lease) { end = ec; }
        ));
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 1); }));
        std::vector<int> served;
        wait_in_background(executor, third.read_write_lock("L").read(), 1, served);
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 2); }));
        co_await sleep_for(100ms);  // for the attempt after the subscription
        BOOST_TEST(served.empty());
        cancel.emit(asio::cancellation_type::terminal);
        BOOST_TEST(co_await co_eventually(5s, [&] { return served.size() == 1; }));
        BOOST_TEST((end == asio::error::operation_aborted));
        co_await lease.release();
        co_await nothing_is_left(probe);
    });
}

BOOST_AUTO_TEST_CASE(a_waiter_that_died_holds_others_up_for_no_longer_than_its_patience) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, with_patience(server, 1s)};
        auto probe = server.probe();
        auto const dead = "w 0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123:1";
        auto const now = probe.cmd("TIME").elements.at(0).text;
        probe.cmd("ZADD", queue, 1, dead);
        probe.cmd("ZADD", heard, now + "900", dead);
        auto const begun = lease_clock::now();
        auto lease = co_await client.read_write_lock("L").read().acquire();
        BOOST_TEST((lease_clock::now() - begun < 3s));
        co_await lease.release();
        co_await nothing_is_left(probe);
    });
}

BOOST_AUTO_TEST_CASE(a_writer_without_an_end_is_replaced_after_a_while) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, with_patience(server, 400ms)};
        auto probe = server.probe();
        probe.cmd("HSET", "L", "mode", "write", java_thread + ":write", 2);
        auto none = co_await client.read_write_lock("L").read().try_acquire_for(500ms);
        BOOST_TEST(!none);
        auto lease = co_await client.read_write_lock("L").read().acquire({.orphan_after = 500ms});
        BOOST_TEST(bool(lease));
        BOOST_TEST(probe.cmd("HLEN", "L").as_integer() == 2);
        BOOST_TEST(probe.cmd("PTTL", "L").as_integer() > 0);
        co_await lease.release();
        co_await nothing_is_left(probe);
    });
}
