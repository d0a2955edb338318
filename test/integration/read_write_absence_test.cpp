// What a reader or a waiter of a read/write lock leaves that died or gave up: it neither cuts the
// others off nor holds them up.

#include "integration/read_write_fixture.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <vector>

using namespace holdfast::test;
using namespace holdfast::test::sides;

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
