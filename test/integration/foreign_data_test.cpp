// What is found under a lock's key and is no lock is reported, never waited for and never deleted.

#include "support/one_server.hpp"

#include <map>
#include <string>
#include <vector>

using namespace holdfast::test;

namespace {

constexpr std::string_view other_holder = "11111111-2222-4333-8444-555555555555:7";

// `DUMP` of every key: what it holds, byte for byte.
std::map<std::string, std::string> everything(redis_probe& probe) {
    std::map<std::string, std::string> all;
    for (auto const& key : probe.keys()) {
        all[key] = probe.cmd("DUMP", key).as_string();
    }
    return all;
}

// Every operation but `inspect` reports `corrupt_state`, waits for nothing, and leaves everything
// as it was.
task corrupt_and_left_alone(holdfast::client& client, redis_probe& probe) {
    auto lock = client.lock("a");
    auto const before = everything(probe);
    auto [acquired, lease] = co_await lock.acquire(as_result);
    BOOST_TEST((acquired == errc::corrupt_state), acquired.message());
    auto [tried, lease_2] = co_await lock.try_acquire(as_result);
    BOOST_TEST((tried == errc::corrupt_state), tried.message());
    auto [tried_for, lease_3] = co_await lock.try_acquire_for(1h, as_result);
    BOOST_TEST((tried_for == errc::corrupt_state), tried_for.message());
    auto [forced, freed] = co_await lock.force_release(as_result);
    BOOST_TEST((forced == errc::corrupt_state), forced.message());
    BOOST_TEST(!freed);
    BOOST_TEST((everything(probe) == before));
}

task corrupt_to_inspect(holdfast::client& client) {
    auto [ec, info] = co_await client.lock("a").inspect(as_result);
    BOOST_TEST((ec == errc::corrupt_state), ec.message());
    BOOST_TEST(!info.held);
}

std::vector<std::vector<std::string>> const values_that_are_no_hash{
    {"SET", "a", "precious"},
    {"SET", "a", ""},
    {"RPUSH", "a", "1", "2"},
    {"SADD", "a", "1", "2"},
    {"ZADD", "a", "1", "one"},
    {"XADD", "a", "*", "field", "value"},
};

std::vector<std::vector<std::string>> const hashes_that_are_no_lock{
    {"HSET", "a", "name", "Ada"},
    {"HSET", "a", "", "empty"},
    {"HSET", "a", "7", "1"},
    {"HSET", "a", "mode", "read", std::string{other_holder}, "1"},
    {"HSET", "a", std::string{other_holder}, "1", "name", "Ada"},
};

// Each has one field with a colon, but none of the form `<id>:<decimal>`.
std::vector<std::vector<std::string>> const hashes_that_look_like_a_lock{
    {"HSET", "a", std::string{other_holder} + ":write", "1"},
    {"HSET", "a", std::string{other_holder} + "x", "1"},
    {"HSET", "a", "user:name", "Ada"},
    {"HSET", "a", ":7", "1"},
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_value_that_is_no_hash_is_corrupt_and_stays) {
    with_client([&](holdfast::client& client, redis_probe& probe) -> task {
        for (auto const& garbage : values_that_are_no_hash) {
            probe.flushall();
            BOOST_REQUIRE(!probe.command(garbage).is_error());
            co_await corrupt_and_left_alone(client, probe);
            co_await corrupt_to_inspect(client);
        }
    });
}

BOOST_AUTO_TEST_CASE(a_hash_of_other_fields_is_corrupt_and_stays) {
    with_client([&](holdfast::client& client, redis_probe& probe) -> task {
        for (auto const& garbage : hashes_that_are_no_lock) {
            probe.flushall();
            BOOST_REQUIRE(!probe.command(garbage).is_error());
            co_await corrupt_and_left_alone(client, probe);
            co_await corrupt_to_inspect(client);
        }
        for (auto const& garbage : hashes_that_look_like_a_lock) {
            probe.flushall();
            BOOST_REQUIRE(!probe.command(garbage).is_error());
            co_await corrupt_and_left_alone(client, probe);
        }
    });
}

BOOST_AUTO_TEST_CASE(inspect_takes_no_other_field_for_a_holder) {
    with_client([&](holdfast::client& client, redis_probe& probe) -> task {
        for (auto const& garbage : hashes_that_look_like_a_lock) {
            probe.flushall();
            BOOST_REQUIRE(!probe.command(garbage).is_error());
            co_await corrupt_to_inspect(client);
        }
    });
}

BOOST_AUTO_TEST_CASE(garbage_that_expires_is_not_waited_for_either) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        probe.cmd("SET", "a", "precious", "PX", 3'600'000);
        auto [ec, lease] = co_await client.lock("a").acquire(as_result);
        BOOST_TEST((ec == errc::corrupt_state), ec.message());
        BOOST_TEST(probe.get("a").value() == "precious");
        BOOST_TEST(probe.pttl("a") > 3'000'000);
    });
}

BOOST_AUTO_TEST_CASE(garbage_in_the_token_counter_grants_nothing_and_stays) {
    std::vector<std::vector<std::string>> const table{
        {"SET", "redisson_lock_token:{a}", "soon"},
        {"SET", "redisson_lock_token:{a}", ""},
        {"SET", "redisson_lock_token:{a}", "1.5"},
        {"SET", "redisson_lock_token:{a}", "9223372036854775807"},
        {"RPUSH", "redisson_lock_token:{a}", "1"},
        {"HSET", "redisson_lock_token:{a}", "f", "1"},
    };
    with_client([&](holdfast::client& client, redis_probe& probe) -> task {
        for (auto const& garbage : table) {
            probe.flushall();
            BOOST_REQUIRE(!probe.command(garbage).is_error());
            auto const before = everything(probe);
            auto [acquired, lease] = co_await client.lock("a").acquire(as_result);
            BOOST_TEST((acquired == errc::corrupt_state), garbage[2] << ": " << acquired.message());
            auto [tried, lease_2] = co_await client.lock("a").try_acquire(as_result);
            BOOST_TEST((tried == errc::corrupt_state), garbage[2] << ": " << tried.message());
            BOOST_TEST((everything(probe) == before));
        }
    });
}

// Beyond 2^53 the numbers of a script are not exact, and below 1 they are none.
BOOST_AUTO_TEST_CASE(a_counter_that_cannot_give_an_exact_token_grants_nothing) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        for (auto const* const count :
             {"-5", "-1", "9007199254740991", "9007199254740993", "9223372036854775000"}) {
            probe.flushall();
            probe.set("redisson_lock_token:{a}", count);
            auto [ec, lease] = co_await client.lock("a").try_acquire(as_result);
            BOOST_TEST((ec == errc::corrupt_state), count << ": " << ec.message());
            BOOST_TEST(!lease);
            BOOST_TEST(!probe.exists("a"));
            BOOST_TEST(probe.exists("redisson_lock_token:{a}"));
        }
        // The last one that is exact.
        probe.flushall();
        probe.set("redisson_lock_token:{a}", "9007199254740990");
        auto lease = co_await client.lock("a").acquire();
        BOOST_TEST(lease.token().value == 9'007'199'254'740'991U);
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(a_lock_turned_into_garbage_under_its_holder_is_lost_and_the_garbage_stays) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto lease = co_await client.lock("a").acquire();
        probe.set("a", "precious");
        BOOST_TEST((co_await renew(lease) == errc::lease_lost));
        BOOST_TEST((lease.state() == lease_state::lost));
        BOOST_TEST((lease.loss() == loss_reason::deleted));
        BOOST_TEST((co_await release(lease) == errc::lease_lost));
        BOOST_TEST(probe.get("a").value() == "precious");
    });
}

// A client with waiters asks for tokens and for the length of the queue when it renews.
BOOST_AUTO_TEST_CASE(garbage_beside_a_lock_that_is_held_ends_no_lease) {
    std::vector<std::vector<std::string>> const table{
        {"SET", "redisson_lock_token:{a}", "soon"},
        {"RPUSH", "redisson_lock_token:{a}", "1"},
        {"SET", "holdfast_queue:{a}", "precious"},
    };
    with_client([&](holdfast::client& client, redis_probe& probe) -> task {
        for (auto const& garbage : table) {
            probe.flushall();
            auto lease = co_await client.lock("a").acquire();
            probe.del(garbage[1]);
            BOOST_REQUIRE(!probe.command(garbage).is_error());
            auto const kept = probe.cmd("DUMP", garbage[1]).as_string();
            // Behind the request for its tokens on the connection comes the renewal.
            auto const waiter = start_acquire(client.lock("a"));
            BOOST_TEST((co_await renew(lease) == error_code{}));
            BOOST_TEST(lease.valid());
            BOOST_TEST((co_await release(lease) == error_code{}));
            auto const ended = [&] { return waiter->done; };
            BOOST_TEST((co_await co_eventually(5s, ended)));
            BOOST_TEST((waiter->error == errc::corrupt_state));
            BOOST_TEST(probe.cmd("DUMP", garbage[1]).as_string() == kept);
        }
    });
}
