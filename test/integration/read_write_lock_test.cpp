// A read/write lock on a real server: who may have it beside whom. (In what order those who wait
// have it: the simulation.)

#include "integration/read_write_fixture.hpp"

#include <vector>

using namespace holdfast::test;
using namespace holdfast::test::sides;

BOOST_AUTO_TEST_CASE(many_read_and_a_writer_has_the_lock_alone) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        holdfast::client other{executor, server.url()};
        auto probe = server.probe();
        auto const lock = client.read_write_lock("{}", "L");
        auto const theirs = other.read_write_lock("L");
        BOOST_TEST(lock.name() == "L");
        auto first = co_await lock.read().acquire();
        auto second = co_await theirs.read().acquire();
        BOOST_TEST(first.valid());
        BOOST_TEST(second.valid());
        auto none = co_await theirs.write().try_acquire();
        BOOST_TEST(!none);
        auto const read = co_await lock.read().inspect();
        BOOST_TEST(read.held);
        BOOST_TEST(read.readers == 2U);
        BOOST_TEST(read.hold_count == 1U);
        auto const written = co_await lock.write().inspect();
        BOOST_TEST(!written.held);
        BOOST_TEST(written.readers == 2U);
        BOOST_TEST(probe.cmd("HGET", "L", "mode").text == "read");
        co_await first.release();
        co_await second.release();
        co_await nothing_is_left(probe);

        auto writer = co_await theirs.write().acquire();
        BOOST_TEST((writer.token() > second.token()));
        BOOST_TEST(probe.cmd("HGET", "L", "mode").text == "write");
        auto const info = co_await lock.write().inspect();
        BOOST_TEST(info.held);
        BOOST_TEST((info.last_token == writer.token()));
        BOOST_TEST(probe.cmd("HEXISTS", "L", info.holder + ":write").as_integer() == 1);
        auto no_reader = co_await lock.read().try_acquire();
        BOOST_TEST(!no_reader);
        auto no_writer = co_await lock.write().try_acquire();
        BOOST_TEST(!no_writer);
        co_await writer.release();
        co_await nothing_is_left(probe);
    });
}

// Redisson's waiters that have found the lock taken, and do not sleep yet, miss "1". "0" is kept
// for them. Between our own writers it would only be one more message.
BOOST_AUTO_TEST_CASE(the_last_of_our_writers_leaves_a_message_for_those_of_java) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        holdfast::client other{executor, server.url()};
        auto probe = server.probe();
        auto listener = server.probe();
        listener.subscribe("redisson_rwlock:{L}");
        auto written = co_await client.read_write_lock("L").write().acquire();
        std::vector<int> served;
        wait_in_background(executor, other.read_write_lock("L").write(), 1, served);
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 1); }));
        co_await written.release();
        // Reading a message blocks the thread: both must have released by then.
        BOOST_TEST(co_await co_eventually(5s, [&] {
            return served.size() == 1U && !probe.exists("L");
        }));
        for (auto const* const payload : {"1", "1", "0"}) {
            auto const message = listener.next_message(5s);
            BOOST_TEST((message ? message->payload : "none") == payload);
        }
        BOOST_TEST(!listener.next_message(50ms));
    });
}

BOOST_AUTO_TEST_CASE(an_owner_that_writes_reads_beside_itself_and_others_follow_when_it_has_written
) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = with_patience(server, 60s);
        settings.fallback_poll_interval = 1h;
        holdfast::client client{executor, settings};
        holdfast::client other{executor, settings};
        auto probe = server.probe();
        auto const lock = client.read_write_lock("L");
        auto const me = holdfast::owner::make();
        acquire_options const mine{.owner = me};
        auto written = co_await lock.write().acquire(mine);
        std::vector<int> served;
        wait_in_background(executor, other.read_write_lock("L").read(), 1, served);
        wait_in_background(executor, lock.read(), 2, served);
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 2); }));
        co_await sleep_for(100ms);  // for the attempts after the subscription
        auto read = co_await lock.read().acquire(mine);
        BOOST_TEST(read.valid());
        BOOST_TEST((read.token() > written.token()));
        BOOST_TEST(probe.cmd("HGET", "L", "mode").text == "write");
        auto again = co_await lock.read().try_acquire(mine);
        BOOST_TEST((again.token() == read.token()));
        // It has the lock for writing already.
        auto further = co_await lock.write().acquire(mine);
        BOOST_TEST((further.token() == written.token()));
        co_await further.release();
        // Others do not read meanwhile, not even of this client.
        auto none = co_await lock.read().try_acquire();
        BOOST_TEST(!none);
        BOOST_TEST(served.empty());
        co_await written.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return served.size() == 2; }));
        BOOST_TEST(probe.cmd("HGET", "L", "mode").text == "read");
        BOOST_TEST(read.valid());
        co_await again.release();
        co_await read.release();
        co_await nothing_is_left(probe);
    });
}

BOOST_AUTO_TEST_CASE(an_owner_reads_beside_no_writer_that_has_taken_its_place) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto probe = server.probe();
        auto const lock = client.read_write_lock("L");
        auto const me = holdfast::owner::make();
        auto const writing = co_await lock.write().acquire({.owner = me});
        BOOST_TEST(writing.valid());
        probe.del("L");
        probe.cmd("HSET", "L", "mode", "write", java_thread + ":write", 1);
        probe.cmd("PEXPIRE", "L", 60'000);
        auto const reading = co_await lock.read().try_acquire({.owner = me});
        BOOST_TEST(!reading);
    });
}

BOOST_AUTO_TEST_CASE(a_forced_release_takes_the_lock_on_one_side_only) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const lock = client.read_write_lock("L");
        auto read = co_await lock.read().acquire();
        BOOST_TEST(!co_await lock.write().force_release());
        BOOST_TEST(co_await lock.read().force_release());
        BOOST_TEST(!probe.exists("L"));
        auto const [ec] = co_await read.release(as_result);
        BOOST_TEST((ec == errc::lease_lost));
        auto written = co_await lock.write().acquire();
        BOOST_TEST(!co_await lock.read().force_release());
        BOOST_TEST(co_await lock.write().force_release());
        auto const [lost] = co_await written.release(as_result);
        BOOST_TEST((lost == errc::lease_lost));
        co_await nothing_is_left(probe);
    });
}
