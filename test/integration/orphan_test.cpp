// A lock that another tool has left without an expiry, and who may take it over.

#include "support/one_server.hpp"

#include <string>

using namespace holdfast::test;
using steady = std::chrono::steady_clock;

namespace {

constexpr auto tool = "00000000-0000-4000-8000-000000000000:1";

holdfast::config patient(redis_server const& server) {
    auto settings = holdfast::parse_url(server.url());
    settings.fallback_poll_interval = 1h;
    return settings;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_lock_without_an_expiry_is_taken_over_after_the_time_with_one_look) {
    log_lines log;
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = patient(server);
        settings.log = log.sink();
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        auto before = co_await client.lock("a").acquire();
        co_await before.release();
        probe.cmd("HSET", "a", tool, "3");
        auto const start = steady::now();
        auto const lease = co_await client.lock("a").acquire({.orphan_after = 700ms});
        BOOST_TEST((steady::now() - start >= 700ms));
        BOOST_TEST((steady::now() - start < 3s));
        BOOST_TEST(lease.token().value > before.token().value);
        BOOST_TEST(probe.hgetall("a").size() == 1U);
        BOOST_TEST(probe.cmd("HEXISTS", "a", tool).as_integer() == 0);
        BOOST_TEST(probe.pttl("a") > 29'000);
        // The first lock; before and after the subscription; and when the time is over.
        BOOST_TEST(client.stats().attempts == 4U);
        co_await sleep_for(100ms);
        BOOST_TEST(lease.valid());
    });
    BOOST_TEST(log.count(log_level::warning, "taken over from") == 1U);
}

BOOST_AUTO_TEST_CASE(a_lock_with_an_expiry_is_never_taken_over) {
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, patient(server)};
        auto probe = server.probe();
        probe.cmd("HSET", "a", tool, "1");
        probe.cmd("PEXPIRE", "a", 2'000);
        auto const start = steady::now();
        auto const lease = co_await client.lock("a").acquire({.orphan_after = 200ms});
        BOOST_TEST((steady::now() - start >= 1'950ms));
    });
}

// The client does not know of the change; the script finds it.
BOOST_AUTO_TEST_CASE(a_change_since_the_first_look_starts_the_time_again) {
    struct {
        std::string name;
        std::function<void(redis_probe&)> change;
        bool again;
    } const table[] = {
        {"expiry", [](redis_probe& probe) { probe.cmd("PEXPIRE", "a", 2'000); }, false},
        {"count", [](redis_probe& probe) { probe.cmd("HSET", "a", tool, "2"); }, true},
        {"holder",
         [](redis_probe& probe) {
             probe.del("a");
             probe.cmd("HSET", "a", "00000000-0000-4000-8000-000000000000:2", "1");
         },
         true},
    };
    for (auto const& row : table) {
        with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
            holdfast::client client{executor, patient(server)};
            auto probe = server.probe();
            probe.cmd("HSET", "a", tool, "1");
            auto const start = steady::now();
            holdfast::lease got;
            steady::time_point at{};
            client.lock("a").acquire(
                {.orphan_after = 600ms},
                [&](error_code, holdfast::lease granted) {
                    got = std::move(granted);
                    at = steady::now();
                }
            );
            co_await sleep_for(300ms);
            row.change(probe);
            BOOST_TEST(co_await co_eventually(5s, [&] { return bool(got); }), row.name);
            BOOST_TEST((at - start >= (row.again ? 1'200ms : 2'200ms)), row.name);
        });
    }
}

BOOST_AUTO_TEST_CASE(without_the_option_it_is_left_alone) {
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url(server.url());
        settings.fallback_poll_interval = 50ms;
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        probe.cmd("HSET", "a", tool, "1");
        auto const none = co_await client.lock("a").try_acquire_for(1s);
        BOOST_TEST(!none);
        BOOST_TEST(probe.cmd("HEXISTS", "a", tool).as_integer() == 1);
        BOOST_TEST(probe.pttl("a") == -1);
    });
}

// An operator frees these with force_release().
BOOST_AUTO_TEST_CASE(fair_and_read_write_locks_are_left_alone_and_reported_once) {
    log_lines log;
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url(server.url());
        settings.waiter_patience = 1s;
        settings.log = log.sink();
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        acquire_options const options{.orphan_after = 100ms};
        probe.cmd("HSET", "fair", tool, "1");
        auto const written = std::string{tool} + ":write";
        probe.cmd("HSET", "rw", "mode", "write", written, "1");
        auto const rw = client.read_write_lock("rw");
        auto const fair = co_await client.fair_lock("fair").try_acquire_for(1s, options);
        BOOST_TEST(!fair);
        BOOST_TEST(log.count(log_level::error, "\"fair\" has no expiry: it stays held") == 1U);
        auto const read = co_await rw.read().try_acquire_for(1s, options);
        BOOST_TEST(!read);
        BOOST_TEST(log.count(log_level::error, "\"rw\" has no expiry: it stays held") == 1U);
        auto const write = co_await rw.write().try_acquire_for(1s, options);
        BOOST_TEST(!write);
        BOOST_TEST(probe.cmd("HEXISTS", "fair", tool).as_integer() == 1);
        BOOST_TEST(probe.cmd("HEXISTS", "rw", written).as_integer() == 1);
        BOOST_TEST(probe.pttl("fair") == -1);
        BOOST_TEST(probe.pttl("rw") == -1);
    });
}

BOOST_AUTO_TEST_CASE(several_clients_take_it_over_one_after_the_other) {
    with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client left{executor, patient(server)};
        holdfast::client right{executor, patient(server)};
        auto probe = server.probe();
        probe.cmd("HSET", "a", tool, "1");
        holdfast::lease first;
        holdfast::lease second;
        acquire_options const options{.orphan_after = 400ms};
        left.lock("a").acquire(options, [&](error_code, holdfast::lease granted) {
            first = std::move(granted);
        });
        right.lock("a").acquire(options, [&](error_code, holdfast::lease granted) {
            second = std::move(granted);
        });
        BOOST_TEST(co_await co_eventually(5s, [&] { return first || second; }));
        co_await sleep_for(500ms);
        BOOST_TEST((first.valid() != second.valid()));
        auto& winner = first ? first : second;
        auto const& loser = &winner == &first ? second : first;
        auto const token = winner.token();
        co_await winner.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return loser.valid(); }));
        BOOST_TEST(loser.token().value > token.value);
    });
}
