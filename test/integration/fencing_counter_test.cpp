// Tokens grow for a name across all holders, also when the server lost the counter, the counter has
// expired, or a Redisson RFencedLock started it again at 1.

#include "support/one_server.hpp"

#include <cstdint>
#include <string>

using namespace holdfast::test;

namespace {

std::string const counter = "redisson_lock_token:{L}";

// The token of one acquisition.
asio::awaitable<std::uint64_t> next_token(holdfast::client& client) {
    auto lease = co_await client.lock("L").acquire();
    auto const token = lease.token().value;
    co_await lease.release();
    co_return token;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_counter_that_is_not_there_starts_at_the_servers_time) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto probe = server.probe();
        auto const before = probe.time();
        auto const first = co_await next_token(client);
        auto const after = probe.time();
        BOOST_TEST(first >= before);
        BOOST_TEST(first <= after);
        BOOST_TEST(probe.get(counter).value() == std::to_string(first));
        BOOST_TEST(co_await next_token(client) > first);

        probe.flushall();
        BOOST_TEST(co_await next_token(client) > first + 1);
    });
}

// As an RFencedLock does it: INCR by a script that knows nothing of the time.
BOOST_AUTO_TEST_CASE(a_counter_that_java_started_again_at_1_does_not_take_tokens_back) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto probe = server.probe();
        auto const before = co_await next_token(client);
        probe.del(counter);
        BOOST_TEST(probe.cmd("INCR", counter).as_integer() == 1);

        auto const now = probe.time();
        auto const token = co_await next_token(client);
        BOOST_TEST(token > before);
        BOOST_TEST(token >= now);
        // Java goes on from there, and the counter that it made has no expiry.
        BOOST_TEST(static_cast<std::uint64_t>(probe.cmd("INCR", counter).as_integer()) > token);
        BOOST_TEST(probe.pttl(counter) == -1);
    });
}

// A replica that was promoted, or a backup.
BOOST_AUTO_TEST_CASE(a_stale_counter_is_lifted_to_the_servers_time) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto probe = server.probe();
        for (std::string const stale : {"1", "41", "1000000000000000"}) {
            probe.set(counter, stale);
            auto const now = probe.time();
            auto const token = co_await next_token(client);
            BOOST_TEST(token >= now);
            BOOST_TEST(probe.get(counter).value() == std::to_string(token));
            BOOST_TEST(probe.pttl(counter) == -1);
        }
    });
}

BOOST_AUTO_TEST_CASE(each_token_is_at_least_the_servers_time) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto probe = server.probe();
        auto last = co_await next_token(client);
        for (int i = 0; i < 100; ++i) {
            auto const now = probe.time();
            auto const token = co_await next_token(client);
            BOOST_TEST(token > last);
            BOOST_TEST(token >= now);
            BOOST_TEST(probe.get(counter).value() == std::to_string(token));
            last = token;
        }
        BOOST_TEST(probe.pttl(counter) > 0);
    });
}

BOOST_AUTO_TEST_CASE(a_counter_ahead_of_the_servers_time_goes_on_by_one) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto probe = server.probe();
        auto const ahead = probe.time() + 3'600'000'000;
        probe.set(counter, std::to_string(ahead));
        for (std::uint64_t i = 1; i < 4; ++i) {
            BOOST_TEST(co_await next_token(client) == ahead + i);
        }
        BOOST_TEST(probe.pttl(counter) == -1);
    });
}

BOOST_AUTO_TEST_CASE(a_counter_of_ours_expires_after_fence_ttl) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url(server.url());
        settings.fence_ttl = 48h;
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        std::int64_t const whole = std::chrono::milliseconds{48h}.count();
        co_await next_token(client);
        BOOST_TEST(probe.pttl(counter) <= whole);
        BOOST_TEST(probe.pttl(counter) > whole - 60'000);

        // It keeps the time that it was given.
        probe.cmd("PEXPIRE", counter, whole / 2);
        auto const last = co_await next_token(client);
        BOOST_TEST(probe.pttl(counter) <= whole / 2);
        BOOST_TEST(probe.pttl(counter) > whole / 2 - 60'000);

        // It has expired: the next token is greater all the same.
        probe.cmd("PEXPIRE", counter, 1);
        BOOST_TEST(co_await co_eventually(1s, [&] { return !probe.exists(counter); }));
        BOOST_TEST(co_await next_token(client) > last);
    });
}

BOOST_AUTO_TEST_CASE(a_counter_of_ours_stays_for_ever_if_the_configuration_says_so) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url(server.url());
        settings.fence_ttl = holdfast::config::never;
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        auto const first = co_await next_token(client);
        BOOST_TEST(probe.pttl(counter) == -1);
        BOOST_TEST(co_await next_token(client) > first);
        BOOST_TEST(probe.pttl(counter) == -1);
    });
}
