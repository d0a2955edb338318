// Bad input, faults 108 to 118 and 122: refused with a clear error before anything is sent, or it
// works; either way nothing in Redis is touched that is not a lock, and what is found there is
// never deleted.

#include "support/redis_probe.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;
using namespace std::string_view_literals;
namespace asio = boost::asio;
using holdfast::acquire_options;
using holdfast::errc;
using holdfast::error_code;
using holdfast::test::redis_probe;
using holdfast::test::redis_server;
using holdfast::test::run_with_deadline;

namespace {

constexpr auto awaited = asio::as_tuple(asio::use_awaitable);
constexpr std::string_view other_holder = "11111111-2222-4333-8444-555555555555:7";

// Commands that no lock operation can do without; what connections send for themselves is not among
// them.
std::int64_t lock_commands(redis_probe& probe) {
    std::int64_t calls = 0;
    for (auto const& [name, count] : probe.commandstats()) {
        for (auto const prefix :
             {"eval",
              "script",
              "subscribe",
              "ssubscribe",
              "psubscribe",
              "publish",
              "set",
              "del",
              "incr",
              "hset",
              "hdel",
              "hkeys",
              "pexpire"}) {
            calls += name.starts_with(prefix) ? count : 0;
        }
    }
    return calls;
}

using test_body = std::function<asio::awaitable<void>(holdfast::client&, redis_probe&)>;

// A server and a client that is connected.
void with_client(test_body const& body, std::string const& key_prefix = {}) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        auto settings = holdfast::parse_url(server.url());
        settings.key_prefix = key_prefix;
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        co_await client.ready();
        co_await body(client, probe);
    });
}

// Every operation of the lock ends with `expected`, and the server is never asked.
asio::awaitable<void> refused_unsent(holdfast::lock lock, errc expected, redis_probe& probe) {
    auto const before = lock_commands(probe);
    auto [acquired, lease] = co_await lock.acquire(awaited);
    BOOST_TEST((acquired == expected), acquired.message());
    BOOST_TEST(!lease);
    auto [tried, lease_2] = co_await lock.try_acquire(awaited);
    BOOST_TEST((tried == expected), tried.message());
    auto [tried_for, lease_3] = co_await lock.try_acquire_for(1h, awaited);
    BOOST_TEST((tried_for == expected), tried_for.message());
    auto [inspected, info] = co_await lock.inspect(awaited);
    BOOST_TEST((inspected == expected), inspected.message());
    auto [forced, freed] = co_await lock.force_release(awaited);
    BOOST_TEST((forced == expected), forced.message());
    BOOST_TEST(lock_commands(probe) == before);
    BOOST_TEST(probe.keys().empty());
}

// An acquisition with these options ends with `expected`, and the server is never asked.
asio::awaitable<void> options_refused_unsent(
    holdfast::lock lock,
    acquire_options options,
    errc expected,
    redis_probe& probe
) {
    auto const before = lock_commands(probe);
    auto [acquired, lease] = co_await lock.acquire(options, awaited);
    BOOST_TEST((acquired == expected), acquired.message());
    BOOST_TEST(!lease);
    auto [tried, lease_2] = co_await lock.try_acquire(options, awaited);
    BOOST_TEST((tried == expected), tried.message());
    auto [tried_for, lease_3] = co_await lock.try_acquire_for(1h, options, awaited);
    BOOST_TEST((tried_for == expected), tried_for.message());
    BOOST_TEST(lock_commands(probe) == before);
    BOOST_TEST(probe.keys().empty());
}

// The lock with this name excludes, says who has it, and leaves only its token counter.
asio::awaitable<void> works(holdfast::client& client, std::string_view name, redis_probe& probe) {
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
asio::awaitable<void> corrupt_and_left_alone(holdfast::client& client, redis_probe& probe) {
    auto lock = client.lock("a");
    auto const before = everything(probe);
    auto [acquired, lease] = co_await lock.acquire(awaited);
    BOOST_TEST((acquired == errc::corrupt_state), acquired.message());
    auto [tried, lease_2] = co_await lock.try_acquire(awaited);
    BOOST_TEST((tried == errc::corrupt_state), tried.message());
    auto [tried_for, lease_3] = co_await lock.try_acquire_for(1h, awaited);
    BOOST_TEST((tried_for == errc::corrupt_state), tried_for.message());
    auto [forced, freed] = co_await lock.force_release(awaited);
    BOOST_TEST((forced == errc::corrupt_state), forced.message());
    BOOST_TEST(!freed);
    BOOST_TEST((everything(probe) == before));
}

asio::awaitable<void> corrupt_to_inspect(holdfast::client& client) {
    auto [ec, info] = co_await client.lock("a").inspect(awaited);
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

BOOST_AUTO_TEST_CASE(fault_108_an_empty_name_is_refused) {
    with_client([](holdfast::client& client, redis_probe& probe) -> asio::awaitable<void> {
        co_await refused_unsent(client.lock(""), errc::invalid_name, probe);
        co_await refused_unsent(client.lock("{}", ""), errc::invalid_name, probe);
    });
}

BOOST_AUTO_TEST_CASE(fault_108_a_prefix_does_not_make_an_empty_name_one) {
    with_client(
        [](holdfast::client& client, redis_probe& probe) -> asio::awaitable<void> {
            co_await refused_unsent(client.lock(""), errc::invalid_name, probe);
        },
        "prefix:"
    );
}

BOOST_AUTO_TEST_CASE(fault_109_a_name_above_512_bytes_is_refused) {
    with_client([](holdfast::client& client, redis_probe& probe) -> asio::awaitable<void> {
        co_await refused_unsent(client.lock(std::string(513, 'n')), errc::invalid_name, probe);
        co_await refused_unsent(
            client.lock(std::string(100'000'000, 'n')),
            errc::invalid_name,
            probe
        );
        co_await works(client, std::string(512, 'n'), probe);
    });
}

BOOST_AUTO_TEST_CASE(fault_109_the_prefix_counts) {
    with_client(
        [](holdfast::client& client, redis_probe& probe) -> asio::awaitable<void> {
            co_await refused_unsent(
                client.lock(std::string(513 - 7, 'n')),
                errc::invalid_name,
                probe
            );
            auto lease = co_await client.lock(std::string(512 - 7, 'n')).acquire();
            BOOST_TEST(lease.valid());
            co_await lease.release();
        },
        "prefix:"
    );
}

BOOST_AUTO_TEST_CASE(fault_110_any_bytes_make_a_name) {
    with_client([](holdfast::client& client, redis_probe& probe) -> asio::awaitable<void> {
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

BOOST_AUTO_TEST_CASE(fault_111_a_hash_tag_of_the_user_is_honoured) {
    with_client([](holdfast::client& client, redis_probe& probe) -> asio::awaitable<void> {
        co_await works(client, "a{b}c", probe);
        auto lease = co_await client.lock("a{b}c").acquire();
        BOOST_TEST((probe.keys() == std::vector<std::string>{"a{b}c", "redisson_lock_token:a{b}c"})
        );
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(fault_112_broken_hash_tags_work_on_a_single_server) {
    with_client([](holdfast::client& client, redis_probe& probe) -> asio::awaitable<void> {
        for (auto const name : {"foo{", "{}foo", "}{", "a}b", "{a", "a}", "{", "}", "{}"}) {
            co_await works(client, name, probe);
        }
    });
}

BOOST_AUTO_TEST_CASE(fault_113_glob_characters_are_not_patterns) {
    with_client([](holdfast::client& client, redis_probe& probe) -> asio::awaitable<void> {
        auto other = co_await client.lock("abc").acquire();
        auto star = co_await client.lock("a*").try_acquire();
        BOOST_TEST(star.valid());
        auto mark = co_await client.lock("ab?").try_acquire();
        BOOST_TEST(mark.valid());
        co_await star.release();
        co_await mark.release();
        BOOST_TEST(probe.exists("abc"));
        auto [forced, freed] = co_await client.lock("[a]*").force_release(awaited);
        BOOST_TEST(!forced);
        BOOST_TEST(!freed);
        BOOST_TEST(other.valid());
        BOOST_TEST(probe.exists("abc"));
        BOOST_TEST(probe.commandstats().contains("psubscribe") == false);
        co_await other.release();
    });
}

BOOST_AUTO_TEST_CASE(fault_114_the_name_of_a_counter_is_no_lock_and_aliases_nothing) {
    with_client([](holdfast::client& client, redis_probe& probe) -> asio::awaitable<void> {
        auto plain = co_await client.lock("a").acquire();
        auto const token = probe.get("redisson_lock_token:{a}");
        auto [ec, lease] = co_await client.lock("redisson_lock_token:{a}").try_acquire(awaited);
        BOOST_TEST((ec == errc::corrupt_state), ec.message());
        auto [forced, freed] =
            co_await client.lock("redisson_lock_token:{a}").force_release(awaited);
        BOOST_TEST((forced == errc::corrupt_state), forced.message());
        BOOST_TEST((probe.get("redisson_lock_token:{a}") == token));
        BOOST_TEST(plain.valid());
        co_await plain.release();

        // The other way round: a lock that sits where another one's counter would be.
        auto squatter = co_await client.lock("redisson_lock_token:{b}").acquire();
        auto [refused, none] = co_await client.lock("b").try_acquire(awaited);
        BOOST_TEST((refused == errc::corrupt_state), refused.message());
        BOOST_TEST(!probe.exists("b"));
        BOOST_TEST(squatter.valid());
        co_await squatter.release();
        for (auto const name :
             {"redisson_lock__channel:{a}", "redisson_lock_token", "a:redisson_lock_token"}) {
            auto fine = co_await client.lock(name).try_acquire();
            BOOST_TEST(fine.valid());
            co_await fine.release();
        }
    });
}

BOOST_AUTO_TEST_CASE(fault_115_a_lease_out_of_range_is_refused) {
    with_client([](holdfast::client& client, redis_probe& probe) -> asio::awaitable<void> {
        for (std::chrono::nanoseconds const lease :
             {std::chrono::nanoseconds{-1},
              std::chrono::nanoseconds{-30s},
              std::chrono::nanoseconds{1},
              std::chrono::nanoseconds{999'999},
              std::chrono::nanoseconds{999ms},
              std::chrono::nanoseconds{24h + 1ms},
              std::chrono::nanoseconds::max(),
              std::chrono::nanoseconds::min()}) {
            co_await options_refused_unsent(
                client.lock("a"),
                {.lease = lease},
                errc::invalid_lease,
                probe
            );
        }
    });
}

BOOST_AUTO_TEST_CASE(fault_115_the_longest_lease_works_and_a_fraction_of_a_millisecond_is_dropped) {
    with_client([](holdfast::client& client, redis_probe& probe) -> asio::awaitable<void> {
        acquire_options const day{.lease = 24h};
        auto lease = co_await client.lock("a").acquire(day);
        BOOST_TEST(probe.pttl("a") > 86'390'000);
        BOOST_TEST(probe.pttl("a") <= 86'400'000);
        co_await lease.release();
        acquire_options const odd{.lease = 20s + 999'999ns};
        auto second = co_await client.lock("a").acquire(odd);
        BOOST_TEST(probe.pttl("a") <= 20'000);
        co_await second.release();
    });
}

BOOST_AUTO_TEST_CASE(fault_115_a_lease_out_of_range_in_the_configuration_is_refused) {
    asio::io_context context;
    for (std::chrono::milliseconds const lease :
         {0ms,
          -1ms,
          999ms,
          std::chrono::milliseconds{24h} + 1ms,
          std::chrono::milliseconds::max(),
          std::chrono::milliseconds::min()}) {
        holdfast::config settings;
        settings.lease = lease;
        BOOST_CHECK_EXCEPTION(
            (holdfast::client{context, settings}),
            std::invalid_argument,
            [](auto const& e) {
                return std::string_view{e.what()}.find("lease") != std::string_view::npos;
            }
        );
    }
    // Nothing was started.
    BOOST_TEST(context.run() == 0U);
}

BOOST_AUTO_TEST_CASE(fault_115_other_options_out_of_range_are_refused) {
    with_client([](holdfast::client& client, redis_probe& probe) -> asio::awaitable<void> {
        for (double const part : {0.0, -1.0, 0.51, std::numeric_limits<double>::quiet_NaN()}) {
            co_await options_refused_unsent(
                client.lock("a"),
                {.renew_at = part},
                errc::invalid_options,
                probe
            );
        }
        for (std::chrono::nanoseconds const hold :
             {std::chrono::nanoseconds{-1}, std::chrono::nanoseconds{29s}}) {
            co_await options_refused_unsent(
                client.lock("a"),
                {.max_hold = hold},
                errc::invalid_options,
                probe
            );
        }
    });
}

BOOST_AUTO_TEST_CASE(fault_116_a_lease_too_short_for_the_time_outs_is_refused) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        auto settings = holdfast::parse_url(server.url());
        settings.connect_timeout = 2s;
        settings.request_timeout = 2s;
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        co_await client.ready();
        co_await options_refused_unsent(
            client.lock("a"),
            {.lease = 4s},
            errc::invalid_lease,
            probe
        );
        acquire_options const enough{.lease = 6s};
        auto lease = co_await client.lock("a").acquire(enough);
        BOOST_TEST(lease.valid());
        co_await lease.release();
        settings.lease = 4s;
        BOOST_CHECK_EXCEPTION(
            (holdfast::client{executor, settings}),
            std::invalid_argument,
            [](auto const& e) {
                return std::string_view{e.what()}.find("lease") != std::string_view::npos;
            }
        );
    });
}

BOOST_AUTO_TEST_CASE(
    fault_117_a_time_to_wait_of_zero_is_one_try_a_negative_one_is_refused_and_the_longest_is_no_overflow
) {
    with_client([](holdfast::client& client, redis_probe& probe) -> asio::awaitable<void> {
        auto lock = client.lock("a");
        auto const before = lock_commands(probe);
        for (std::chrono::nanoseconds const limit :
             {std::chrono::nanoseconds{-1}, std::chrono::nanoseconds::min()}) {
            auto [ec, none] = co_await lock.try_acquire_for(limit, awaited);
            BOOST_TEST((ec == errc::invalid_options), ec.message());
        }
        BOOST_TEST(lock_commands(probe) == before);
        BOOST_TEST(probe.keys().empty());

        auto free = co_await lock.try_acquire_for(0s);
        BOOST_TEST(free.valid());
        auto [ec, busy] = co_await lock.try_acquire_for(0s, awaited);
        BOOST_TEST(!ec);
        BOOST_TEST(!busy);
        BOOST_TEST(client.stats().refusals == 1U);
        BOOST_TEST(client.stats().waits == 0U);
        co_await free.release();
        auto longest = co_await lock.try_acquire_for(std::chrono::nanoseconds::max());
        BOOST_TEST(longest.valid());
        co_await longest.release();
        acquire_options const for_ever{.max_hold = std::chrono::nanoseconds::max()};
        auto bounded = co_await lock.acquire(for_ever);
        BOOST_TEST(bounded.valid());
        co_await bounded.release();
    });
}

BOOST_AUTO_TEST_CASE(fault_118_no_waiter_above_the_limit_and_no_limit_of_zero) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        auto settings = holdfast::parse_url(server.url());
        settings.max_waiters = 0;
        BOOST_CHECK_EXCEPTION(
            (holdfast::client{executor, settings}),
            std::invalid_argument,
            [](auto const& e) {
                return std::string_view{e.what()}.find("max_waiters") != std::string_view::npos;
            }
        );
        settings.max_waiters = 1;
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        auto lease = co_await client.lock("a").acquire();
        error_code first_error;
        client.lock("a").acquire([&](error_code ec, holdfast::lease) { first_error = ec; });
        co_await holdfast::test::co_eventually(5s, [&] { return client.stats().waiters_now == 1; });
        auto [ec, none] = co_await client.lock("a").acquire(awaited);
        BOOST_TEST((ec == errc::too_many_waiters), ec.message());
        BOOST_TEST(holdfast::is_retryable(ec));
        // Another lock has a limit of its own.
        auto other = co_await client.lock("b").acquire();
        BOOST_TEST(other.valid());
        co_await other.release();
        co_await client.shutdown();
        co_await holdfast::test::co_eventually(5s, [&] { return first_error.failed(); });
        BOOST_TEST((first_error == errc::client_stopped), first_error.message());
    });
}

BOOST_AUTO_TEST_CASE(fault_122_a_value_that_is_no_hash_is_corrupt_and_stays) {
    with_client([&](holdfast::client& client, redis_probe& probe) -> asio::awaitable<void> {
        for (auto const& garbage : values_that_are_no_hash) {
            probe.flushall();
            BOOST_REQUIRE(!probe.command(garbage).is_error());
            co_await corrupt_and_left_alone(client, probe);
            co_await corrupt_to_inspect(client);
        }
    });
}

BOOST_AUTO_TEST_CASE(fault_122_a_hash_of_other_fields_is_corrupt_and_stays) {
    with_client([&](holdfast::client& client, redis_probe& probe) -> asio::awaitable<void> {
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

BOOST_AUTO_TEST_CASE(fault_122_inspect_takes_no_other_field_for_a_holder) {
    with_client([&](holdfast::client& client, redis_probe& probe) -> asio::awaitable<void> {
        for (auto const& garbage : hashes_that_look_like_a_lock) {
            probe.flushall();
            BOOST_REQUIRE(!probe.command(garbage).is_error());
            co_await corrupt_to_inspect(client);
        }
    });
}

BOOST_AUTO_TEST_CASE(fault_122_garbage_that_expires_is_not_waited_for_either) {
    with_client([](holdfast::client& client, redis_probe& probe) -> asio::awaitable<void> {
        probe.cmd("SET", "a", "precious", "PX", 3'600'000);
        auto [ec, lease] = co_await client.lock("a").acquire(awaited);
        BOOST_TEST((ec == errc::corrupt_state), ec.message());
        BOOST_TEST(probe.get("a").value() == "precious");
        BOOST_TEST(probe.pttl("a") > 3'000'000);
    });
}

BOOST_AUTO_TEST_CASE(fault_122_garbage_in_the_token_counter_grants_nothing_and_stays) {
    std::vector<std::vector<std::string>> const table{
        {"SET", "redisson_lock_token:{a}", "soon"},
        {"SET", "redisson_lock_token:{a}", ""},
        {"SET", "redisson_lock_token:{a}", "1.5"},
        {"SET", "redisson_lock_token:{a}", "9223372036854775807"},
        {"RPUSH", "redisson_lock_token:{a}", "1"},
        {"HSET", "redisson_lock_token:{a}", "f", "1"},
    };
    with_client([&](holdfast::client& client, redis_probe& probe) -> asio::awaitable<void> {
        for (auto const& garbage : table) {
            probe.flushall();
            BOOST_REQUIRE(!probe.command(garbage).is_error());
            auto const before = everything(probe);
            auto [acquired, lease] = co_await client.lock("a").acquire(awaited);
            BOOST_TEST((acquired == errc::corrupt_state), garbage[2] << ": " << acquired.message());
            auto [tried, lease_2] = co_await client.lock("a").try_acquire(awaited);
            BOOST_TEST((tried == errc::corrupt_state), garbage[2] << ": " << tried.message());
            BOOST_TEST((everything(probe) == before));
        }
    });
}

// Beyond 2^53 the numbers of a script are not exact, and below 1 they are none.
BOOST_AUTO_TEST_CASE(fault_122_a_counter_that_cannot_give_an_exact_token_grants_nothing) {
    with_client([](holdfast::client& client, redis_probe& probe) -> asio::awaitable<void> {
        for (auto const* const count :
             {"-5", "-1", "9007199254740991", "9007199254740993", "9223372036854775000"}) {
            probe.flushall();
            probe.set("redisson_lock_token:{a}", count);
            auto [ec, lease] = co_await client.lock("a").try_acquire(awaited);
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

BOOST_AUTO_TEST_CASE(
    fault_122_a_lock_turned_into_garbage_under_its_holder_is_lost_and_the_garbage_stays
) {
    with_client([](holdfast::client& client, redis_probe& probe) -> asio::awaitable<void> {
        auto lease = co_await client.lock("a").acquire();
        probe.set("a", "precious");
        error_code renewed;
        co_await lease.renew(asio::redirect_error(asio::use_awaitable, renewed));
        BOOST_TEST((renewed == errc::lease_lost), renewed.message());
        BOOST_TEST((lease.state() == holdfast::lease_state::lost));
        BOOST_TEST((lease.loss() == holdfast::loss_reason::taken));
        error_code released;
        co_await lease.release(asio::redirect_error(asio::use_awaitable, released));
        BOOST_TEST((released == errc::lease_lost), released.message());
        BOOST_TEST(probe.get("a").value() == "precious");
    });
}
