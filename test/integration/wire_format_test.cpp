// What other clients see of a lock: the keys, fields, channels and payloads of Redisson's RLock and
// RFencedLock.

#include "support/one_server.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <map>
#include <regex>
#include <string>
#include <vector>

using namespace holdfast::test;
namespace data = boost::unit_test::data;

namespace {

std::string const java_client = "71b96ce8-2746-4c7e-9a51-0f6de2f5a111";
std::string const java_thread = java_client + ":1";

// As Redisson's acquire script leaves it.
void hold_from_java(
    redis_probe& probe,
    std::string const& name,
    std::string const& holder,
    int ttl_ms
) {
    probe.cmd("HINCRBY", name, holder, 1);
    probe.cmd("PEXPIRE", name, ttl_ms);
}

void unlock_from_java(redis_probe& probe, std::string const& name, std::string const& channel) {
    probe.del(name);
    probe.publish(channel, "0");
}

struct named {
    std::string name;
    std::string token_key;
    std::string channel;
};

std::ostream& operator<<(std::ostream& out, named const& n) {
    return out << n.name;
}

// Redisson looks for an opening brace only.
std::vector<named> const names{
    {"L", "redisson_lock_token:{L}", "redisson_lock__channel:{L}"},
    {"stock:7:apple",
     "redisson_lock_token:{stock:7:apple}",
     "redisson_lock__channel:{stock:7:apple}"},
    {"a{b}", "redisson_lock_token:a{b}", "redisson_lock__channel:a{b}"},
    {"a{b", "redisson_lock_token:a{b", "redisson_lock__channel:a{b"},
    {"a{}b", "redisson_lock_token:a{}b", "redisson_lock__channel:a{}b"},
    {"a}b", "redisson_lock_token:{a}b}", "redisson_lock__channel:{a}b}"},
    {"}{", "redisson_lock_token:}{", "redisson_lock__channel:}{"},
};

}  // namespace

BOOST_DATA_TEST_CASE(keys_and_channel_are_named_as_in_redisson, data::make(names), expected) {
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto probe = server.probe();
        auto listener = server.probe();
        listener.subscribe(expected.channel);

        auto lease = co_await client.lock(expected.name).acquire();
        std::vector<std::string> held{expected.name, expected.token_key};
        std::sort(held.begin(), held.end());
        BOOST_TEST(probe.keys() == held);

        co_await lease.release();
        BOOST_TEST(probe.keys() == std::vector{expected.token_key});
        auto const message = listener.next_message(1s);
        BOOST_REQUIRE(message);
        BOOST_TEST(message->channel == expected.channel);
        BOOST_TEST(message->payload == "0");
        BOOST_TEST(!listener.next_message(50ms));
    });
}

BOOST_AUTO_TEST_CASE(a_held_lock_is_a_hash_with_one_holder_and_an_expiry) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto first = co_await client.lock("L").acquire({.lease = 30s});
        auto const fields = probe.hgetall("L");
        BOOST_REQUIRE(fields.size() == 1U);
        std::regex const holder{
            "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}:[0-9]+"
        };
        BOOST_TEST(std::regex_match(fields.begin()->first, holder), fields.begin()->first);
        BOOST_TEST(fields.begin()->second == "1");
        BOOST_TEST(probe.pttl("L") > 25'000);
        BOOST_TEST(probe.pttl("L") <= 30'000);

        auto refused = co_await client.lock("L").try_acquire({.lease = 90s});
        BOOST_TEST(!refused);
        BOOST_TEST((probe.hgetall("L") == fields));
        BOOST_TEST(probe.pttl("L") <= 30'000);

        // Two grants of one client are two holders; the part before the colon is the client's.
        auto other = co_await client.lock("M").acquire();
        auto const mine = fields.begin()->first;
        auto const others = probe.hgetall("M").begin()->first;
        BOOST_TEST(mine != others);
        BOOST_TEST(mine.substr(0, 37) == others.substr(0, 37));
        co_await other.release();
        co_await first.release();
    });
}

BOOST_DATA_TEST_CASE(
    a_lock_held_by_redisson_is_waited_for,
    data::make(
        {"71b96ce8-2746-4c7e-9a51-0f6de2f5a111:1",
         "71b96ce8-2746-4c7e-9a51-0f6de2f5a111:-5",
         "71b96ce8-2746-4c7e-9a51-0f6de2f5a111:-9223372036854775808",
         "71b96ce8-2746-4c7e-9a51-0f6de2f5a111:1:6f1c-transaction"}
    ),
    holder
) {
    with_client([&](holdfast::client& client, redis_probe& probe) -> task {
        hold_from_java(probe, "L", holder, 600'000);
        hold_from_java(probe, "L", holder, 600'000);  // re-entered
        std::map<std::string, std::string> const held{{holder, "2"}};

        auto const info = co_await client.lock("L").inspect();
        BOOST_TEST(info.held);
        BOOST_TEST(info.holder == holder);
        BOOST_TEST(info.hold_count == 2U);

        holdfast::lease lease;
        client.lock("L").acquire([&](error_code ec, holdfast::lease granted) {
            BOOST_TEST(!ec, ec.message());
            lease = std::move(granted);
        });
        auto const parked = [&] {
            return probe.pubsub_numsub("redisson_lock__channel:{L}") == 1 &&
                   client.stats().refusals == 2;
        };
        BOOST_TEST(co_await co_eventually(5s, parked));
        BOOST_TEST(!lease);
        BOOST_TEST((probe.hgetall("L") == held));

        unlock_from_java(probe, "L", "redisson_lock__channel:{L}");
        BOOST_TEST(co_await co_eventually(1s, [&] { return bool(lease); }));
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(messages_are_hints_whatever_they_say) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        hold_from_java(probe, "L", java_thread, 600'000);
        holdfast::lease lease;
        client.lock("L").acquire([&](error_code, holdfast::lease granted) {
            lease = std::move(granted);
        });
        BOOST_TEST(co_await co_eventually(5s, [&] { return client.stats().refusals == 2; }));

        std::uint64_t seen = 2;
        for (auto const payload : {"0", "1", "-4", "not a number"}) {
            probe.publish("redisson_lock__channel:{L}", payload);
            ++seen;
            BOOST_TEST(co_await co_eventually(1s, [&] { return client.stats().refusals == seen; }));
            BOOST_TEST(!lease);
        }
        probe.del("L");
        probe.publish("redisson_lock__channel:{L}", "1");
        BOOST_TEST(co_await co_eventually(1s, [&] { return bool(lease); }));
        co_await lease.release();
    });
}

// A plain Redisson lock of a process that died, or a spin lock: no message comes.
BOOST_AUTO_TEST_CASE(a_lock_of_redisson_that_expires_is_taken_over_without_a_message) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        hold_from_java(probe, "L", java_thread, 700);
        auto lease = co_await client.lock("L").try_acquire_for(5s);
        BOOST_TEST(lease.valid());
        BOOST_TEST(!probe.hgetall("L").contains(java_thread));
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(release_and_renewal_leave_a_lock_of_redisson_alone) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto probe = server.probe();
        auto lease = co_await client.lock("L").acquire({.renew = false});
        probe.del("L");
        hold_from_java(probe, "L", java_thread, 600'000);
        auto listener = server.probe();
        listener.subscribe("redisson_lock__channel:{L}");

        auto [renewed] = co_await lease.renew(as_result);
        BOOST_TEST((renewed == errc::lease_lost));
        BOOST_TEST((lease.loss() == loss_reason::taken));
        auto [released] = co_await lease.release(as_result);
        BOOST_TEST((released == errc::lease_lost));
        BOOST_TEST(probe.hgetall("L").contains(java_thread));
        BOOST_TEST(probe.pttl("L") > 500'000);
        BOOST_TEST(!listener.next_message(100ms));
    });
}

BOOST_AUTO_TEST_CASE(renewal_sets_the_expiry_to_the_whole_lease) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto lease = co_await client.lock("L").acquire({.lease = 30s, .renew = false});
        probe.cmd("PEXPIRE", "L", 5'000);
        co_await lease.renew();
        BOOST_TEST(probe.pttl("L") > 25'000);
        BOOST_TEST(probe.pttl("L") <= 30'000);
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(an_operator_frees_a_lock_of_redisson_with_its_message) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto probe = server.probe();
        auto listener = server.probe();
        listener.subscribe("redisson_lock__channel:{L}");
        hold_from_java(probe, "L", java_thread, 600'000);
        BOOST_TEST(co_await client.lock("L").force_release());
        BOOST_TEST(!probe.exists("L"));
        auto const message = listener.next_message(1s);
        BOOST_REQUIRE(message);
        BOOST_TEST(message->payload == "0");
        BOOST_TEST(!co_await client.lock("L").force_release());
        BOOST_TEST(!listener.next_message(50ms));
    });
}

// A read lock or a fair lock of Redisson's under the name: another kind of lock, so nothing we may
// wait for.
BOOST_AUTO_TEST_CASE(another_kind_of_lock_is_not_touched) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        probe.cmd("HSET", "read", "mode", "read", java_thread, 1);
        probe.cmd("HSET", "write", java_thread + ":write", 1);
        for (auto const* name : {"read", "write"}) {
            auto const before = probe.hgetall(name);
            auto [ec, lease] = co_await client.lock(name).acquire(as_result);
            BOOST_TEST((ec == errc::corrupt_state));
            auto [forced, freed] = co_await client.lock(name).force_release(as_result);
            BOOST_TEST((forced == errc::corrupt_state));
            BOOST_TEST(!freed);
            BOOST_TEST((probe.hgetall(name) == before));
        }
    });
}
