// What other clients see of a read/write lock: the keys, fields, channel and payloads of Redisson's
// RReadWriteLock, as they were recorded.

#include "support/one_server.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <vector>

using namespace holdfast::test;
namespace data = boost::unit_test::data;

namespace {

std::string const java_client = "71b96ce8-2746-4c7e-9a51-0f6de2f5a111";
std::string const first_thread = java_client + ":1";
std::string const second_thread = java_client + ":2";
std::string const channel = "redisson_rwlock:{L}";

std::string hold_of(std::string const& holder, int number) {
    return "{L}:" + holder + ":rwlock_timeout:" + std::to_string(number);
}

// Two holds of one thread, and one of another: reads for 30, 40 and 20 s.
void read_from_java(redis_probe& probe) {
    probe.cmd("HSET", "L", "mode", "read", first_thread, 2, second_thread, 1);
    probe.cmd("SET", hold_of(first_thread, 1), 1, "PX", 30'000);
    probe.cmd("SET", hold_of(first_thread, 2), 1, "PX", 40'000);
    probe.cmd("SET", hold_of(second_thread, 1), 1, "PX", 20'000);
    probe.cmd("PEXPIRE", "L", 40'000);
}

bool about(std::int64_t ttl, std::int64_t expected) {
    return ttl <= expected && ttl > expected - 5'000;
}

struct named {
    std::string name;
    std::string tag;
};

std::ostream& operator<<(std::ostream& out, named const& n) {
    return out << n.name;
}

// Redisson looks for an opening brace only.
std::vector<named> const names{
    {"L", "{L}"},
    {"stock:7:apple", "{stock:7:apple}"},
    {"a{b}", "a{b}"},
    {"a{b", "a{b"},
    {"a}b", "{a}b}"},
};

}  // namespace

BOOST_DATA_TEST_CASE(keys_and_channel_are_named_as_in_redisson, data::make(names), expected) {
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto probe = server.probe();
        auto listener = server.probe();
        listener.subscribe("redisson_rwlock:" + expected.tag);
        auto const lock = client.read_write_lock(holdfast::lock_name{expected.name});

        auto read = co_await lock.read().acquire();
        auto const fields = probe.hgetall(expected.name);
        BOOST_REQUIRE(fields.size() == 2U);
        BOOST_TEST(fields.at("mode") == "read");
        auto const reader = fields.begin()->first == "mode" ? std::next(fields.begin())->first
                                                            : fields.begin()->first;
        BOOST_TEST(fields.at(reader) == "1");
        std::vector<std::string> held{
            expected.name,
            "redisson_lock_token:" + expected.tag,
            expected.tag + ":" + reader + ":rwlock_timeout:1"
        };
        std::sort(held.begin(), held.end());
        BOOST_TEST(probe.keys() == held);
        co_await read.release();
        BOOST_TEST(listener.next_message(1s).value().payload == "0");

        auto written = co_await lock.write().acquire();
        auto const info = co_await lock.write().inspect();
        std::map<std::string, std::string> const writer{
            {"mode", "write"},
            {info.holder + ":write", "1"}
        };
        BOOST_TEST((probe.hgetall(expected.name) == writer));
        co_await written.release();
        BOOST_TEST(listener.next_message(1s).value().payload == "1");
        BOOST_TEST(listener.next_message(1s).value().payload == "0");
        BOOST_TEST(probe.keys() == std::vector{"redisson_lock_token:" + expected.tag});
    });
}

BOOST_AUTO_TEST_CASE(the_holds_of_java_threads_are_told_apart_and_kept) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto probe = server.probe();
        auto listener = server.probe();
        listener.subscribe(channel);
        auto const lock = client.read_write_lock("L");
        read_from_java(probe);

        auto const info = co_await lock.read().inspect();
        BOOST_TEST(info.held);
        BOOST_TEST(info.readers == 2U);
        BOOST_TEST(info.holder == first_thread);
        BOOST_TEST(info.hold_count == 2U);
        BOOST_TEST(about(info.remaining.value().count(), 40'000));
        auto none = co_await lock.write().try_acquire();
        BOOST_TEST(!none);

        auto longer = co_await lock.read().acquire({.lease = 60s});
        BOOST_TEST(about(probe.pttl("L"), 60'000));
        co_await longer.release();
        BOOST_TEST(about(probe.pttl("L"), 40'000));
        BOOST_TEST(about(probe.pttl(hold_of(first_thread, 1)), 30'000));
        auto shorter = co_await lock.read().acquire({.lease = 10s});
        BOOST_TEST(about(probe.pttl("L"), 40'000));

        // As Redisson's script releases one hold after the other, the newest first.
        probe.cmd("HINCRBY", "L", first_thread, -1);
        probe.del(hold_of(first_thread, 2));
        probe.cmd("PEXPIRE", "L", 30'000);
        co_await shorter.release();
        BOOST_TEST(about(probe.pttl("L"), 30'000));
        probe.cmd("HDEL", "L", first_thread);
        probe.del(hold_of(first_thread, 1));
        BOOST_TEST(!listener.next_message(50ms));

        auto last = co_await lock.read().acquire({.lease = 10s});
        probe.cmd("HDEL", "L", second_thread);
        probe.del(hold_of(second_thread, 1));
        co_await last.release();
        BOOST_TEST(!probe.exists("L"));
        BOOST_TEST(listener.next_message(1s).value().payload == "0");
    });
}

BOOST_AUTO_TEST_CASE(a_writer_that_reads_on_leaves_its_hold_and_tells_all) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto probe = server.probe();
        auto listener = server.probe();
        listener.subscribe(channel);
        auto const lock = client.read_write_lock("L");
        acquire_options mine{.lease = 60s, .owner = holdfast::owner::make()};
        auto written = co_await lock.write().acquire(mine);
        mine.lease = 20s;
        auto read = co_await lock.read().acquire(mine);
        BOOST_TEST(probe.cmd("HLEN", "L").as_integer() == 3);
        BOOST_TEST(about(probe.pttl("L"), 60'000));
        BOOST_TEST(!listener.next_message(50ms));
        co_await written.release();
        BOOST_TEST(probe.cmd("HGET", "L", "mode").text == "read");
        BOOST_TEST(probe.cmd("HLEN", "L").as_integer() == 2);
        BOOST_TEST(about(probe.pttl("L"), 20'000));
        BOOST_TEST(listener.next_message(1s).value().payload == "1");
        BOOST_TEST(listener.next_message(1s).value().payload == "0");
        co_await read.release();
        BOOST_TEST(!probe.exists("L"));
        BOOST_TEST(listener.next_message(1s).value().payload == "0");
    });
}
