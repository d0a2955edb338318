// Names: a wrong one is refused before anything is sent, any other bytes work, and no two names
// share a lock.

#include "support/one_server.hpp"

#include <string>
#include <string_view>
#include <vector>

using namespace holdfast::test;
using namespace std::string_view_literals;

namespace {

// Every operation of the lock ends with `expected`, and the server is never asked.
task refused_unsent(holdfast::lock lock, errc expected, redis_probe& probe) {
    auto const before = probe.lock_commands();
    auto [acquired, lease] = co_await lock.acquire(as_result);
    BOOST_TEST((acquired == expected), acquired.message());
    BOOST_TEST(!lease);
    auto [tried, lease_2] = co_await lock.try_acquire(as_result);
    BOOST_TEST((tried == expected), tried.message());
    auto [tried_for, lease_3] = co_await lock.try_acquire_for(1h, as_result);
    BOOST_TEST((tried_for == expected), tried_for.message());
    auto [inspected, info] = co_await lock.inspect(as_result);
    BOOST_TEST((inspected == expected), inspected.message());
    auto [forced, freed] = co_await lock.force_release(as_result);
    BOOST_TEST((forced == expected), forced.message());
    BOOST_TEST(probe.lock_commands() == before);
    BOOST_TEST(probe.keys().empty());
}

// The lock with this name excludes, says who has it, and leaves only its token counter.
task works(holdfast::client& client, std::string_view name, redis_probe& probe) {
    auto lock = client.lock(name);
    BOOST_TEST(lock.name() == name);
    auto lease = co_await lock.acquire();
    BOOST_TEST(lease.valid());
    BOOST_TEST(probe.exists(std::string{name}));
    auto busy = co_await lock.try_acquire();
    BOOST_TEST(!busy);
    auto const info = co_await lock.inspect();
    BOOST_TEST(info.held);
    BOOST_TEST((info.last_token == lease.token()));
    co_await lease.release();
    BOOST_TEST(!probe.exists(std::string{name}));
    BOOST_TEST(probe.keys().size() == 1U);
    probe.flushall();
}

// As `with_client`, with a key prefix in the client's settings.
void with_prefix(client_body const& body) {
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url(server.url());
        settings.key_prefix = "prefix:";
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        co_await body(client, probe);
    });
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_empty_name_is_refused) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        co_await refused_unsent(client.lock(""), errc::invalid_name, probe);
        co_await refused_unsent(client.lock("{}", ""), errc::invalid_name, probe);
    });
}

BOOST_AUTO_TEST_CASE(a_prefix_does_not_make_an_empty_name_one) {
    with_prefix([](holdfast::client& client, redis_probe& probe) -> task {
        co_await refused_unsent(client.lock(""), errc::invalid_name, probe);
    });
}

BOOST_AUTO_TEST_CASE(a_name_above_512_bytes_is_refused) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        co_await refused_unsent(client.lock(std::string(513, 'n')), errc::invalid_name, probe);
        co_await refused_unsent(
            client.lock(std::string(100'000'000, 'n')),
            errc::invalid_name,
            probe
        );
        co_await works(client, std::string(512, 'n'), probe);
    });
}

BOOST_AUTO_TEST_CASE(the_prefix_counts) {
    with_prefix([](holdfast::client& client, redis_probe& probe) -> task {
        co_await refused_unsent(client.lock(std::string(513 - 7, 'n')), errc::invalid_name, probe);
        auto lease = co_await client.lock(std::string(512 - 7, 'n')).acquire();
        BOOST_TEST(lease.valid());
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(any_bytes_make_a_name) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        for (auto const name :
             {"\0"sv,
              "a\0b"sv,
              "a\r\nFLUSHALL\r\n"sv,
              "\xff\xfe\xc3"sv,
              "caf\xc3\xa9"sv,
              " "sv,
              "\"'\\$*"sv,
              "\r\n$-1\r\n"sv}) {
            co_await works(client, name, probe);
        }
    });
}

BOOST_AUTO_TEST_CASE(a_hash_tag_of_the_user_is_honoured) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        co_await works(client, "a{b}c", probe);
        auto lease = co_await client.lock("a{b}c").acquire();
        BOOST_TEST((probe.keys() == std::vector<std::string>{"a{b}c", "redisson_lock_token:a{b}c"})
        );
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(broken_hash_tags_work_on_a_single_server) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        for (auto const name : {"foo{", "{}foo", "}{", "a}b", "{a", "a}", "{", "}", "{}{}"}) {
            co_await works(client, name, probe);
        }
    });
}

BOOST_AUTO_TEST_CASE(glob_characters_are_not_patterns) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto other = co_await client.lock("abc").acquire();
        auto star = co_await client.lock("a*").try_acquire();
        BOOST_TEST(star.valid());
        auto mark = co_await client.lock("ab?").try_acquire();
        BOOST_TEST(mark.valid());
        co_await star.release();
        co_await mark.release();
        BOOST_TEST(probe.exists("abc"));
        auto [forced, freed] = co_await client.lock("[a]*").force_release(as_result);
        BOOST_TEST(!forced);
        BOOST_TEST(!freed);
        BOOST_TEST(other.valid());
        BOOST_TEST(probe.exists("abc"));
        BOOST_TEST(probe.commandstats().contains("psubscribe") == false);
        co_await other.release();
    });
}

// Their keys would be those of other locks.
BOOST_AUTO_TEST_CASE(names_that_share_keys_with_others_are_refused) {
    log_lines log;
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url(server.url());
        settings.log = log.sink();
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        for (std::string const name :
             {"{a}",
              "{}",
              "{a}b}",
              "{a}:timeout",
              "{a}:x:rwlock_timeout:1",
              "redisson_lock_token:{a}",
              "redisson_lock__channel:{a}",
              "holdfast_queue:a",
              "holdfast_server"}) {
            BOOST_TEST_CONTEXT(name) {
                co_await refused_unsent(client.lock(name), errc::invalid_name, probe);
            }
        }
    });
    BOOST_TEST(
        log.count(log_level::error, "\"{a}\" has the same queue, counter and channel as \"a\"") ==
            1U,
        log.all()
    );
    BOOST_TEST(log.count(log_level::error, "write something before") >= 1U, log.all());
}

BOOST_AUTO_TEST_CASE(each_kind_refuses_a_name_that_shares_keys) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        co_await client.ready();
        auto const expect = [](error_code ec) {
            BOOST_TEST((ec == errc::invalid_name), ec.message());
        };
        auto [fair, fair_lease] = co_await client.fair_lock("{a}").acquire(as_result);
        expect(fair);
        auto const both = client.read_write_lock("{a}");
        auto [read, read_lease] = co_await both.read().acquire(as_result);
        expect(read);
        auto [wrote, write_lease] = co_await both.write().acquire(as_result);
        expect(wrote);
        auto const pool = client.semaphore("{a}");
        auto [set, set_now] = co_await pool.try_set_permits(1, as_result);
        expect(set);
        auto [permit, permit_lease] = co_await pool.permits(2).acquire(as_result);
        expect(permit);
        auto [added, added_now] =
            co_await client.counting_semaphore("{a}").try_set_permits(1, as_result);
        expect(added);
        auto [counted] = co_await client.latch("{a}").count_down(as_result);
        expect(counted);
        auto const vote = client.election("{a}");
        auto [campaigned, leadership] = co_await vote.campaign("me", as_result);
        expect(campaigned);
        auto [asked, leader] = co_await vote.leader(as_result);
        expect(asked);
        holdfast::multi_lock const of_both{client.lock("b"), client.lock("{a}")};
        auto [multi, multi_lease] = co_await of_both.acquire(as_result);
        expect(multi);
        BOOST_TEST(probe.keys().empty());
    });
}

BOOST_AUTO_TEST_CASE(the_name_of_a_counter_is_no_lock_and_aliases_nothing) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto plain = co_await client.lock("a").acquire();
        auto const token = probe.get("redisson_lock_token:{a}");
        auto [ec, lease] = co_await client.lock("redisson_lock_token:{a}").try_acquire(as_result);
        BOOST_TEST((ec == errc::invalid_name), ec.message());
        auto [forced, freed] =
            co_await client.lock("redisson_lock_token:{a}").force_release(as_result);
        BOOST_TEST((forced == errc::invalid_name), forced.message());
        BOOST_TEST((probe.get("redisson_lock_token:{a}") == token));
        BOOST_TEST(plain.valid());
        co_await plain.release();
        // Another program's data where the counter would be.
        probe.cmd("HSET", "redisson_lock_token:{b}", "field", "1");
        auto [refused, none] = co_await client.lock("b").try_acquire(as_result);
        BOOST_TEST((refused == errc::corrupt_state), refused.message());
        BOOST_TEST(!probe.exists("b"));
        for (auto const name : {"redisson_lock_token", "a:redisson_lock_token:{x}"}) {
            auto fine = co_await client.lock(name).try_acquire();
            BOOST_TEST(fine.valid());
            co_await fine.release();
        }
    });
}
