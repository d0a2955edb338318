// What a lock costs its server and its process, and what operators can see and do.

#include "support/log_lines.hpp"
#include "support/redis_probe.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using boost::system::error_code;
using holdfast::errc;
using holdfast::test::co_eventually;
using holdfast::test::log_lines;
using holdfast::test::redis_server;
using holdfast::test::run_with_deadline;
using steady = std::chrono::steady_clock;

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

// Calls by command, without health checks and what the probe itself asks for.
std::map<std::string, std::int64_t> commands_of(redis_server const& server) {
    auto probe = server.probe();
    auto stats = probe.commandstats();
    stats.erase("ping");
    stats.erase("info");
    return stats;
}

double resident_bytes() {
    std::ifstream in{"/proc/self/statm"};
    double total = 0;
    double resident = 0;
    in >> total >> resident;
    return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

int from_environment(char const* name, int otherwise) {
    auto const* text = std::getenv(name);
    return text ? std::max(std::atoi(text), otherwise) : otherwise;
}

}  // namespace

BOOST_AUTO_TEST_CASE(show_5_parked_waiters_send_nothing) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client holder{executor, server.url()};
        holdfast::client client{executor, server.url()};
        auto held = co_await holder.lock("a").acquire({.lease = 1h});
        int ended = 0;
        for (int i = 0; i < 100; ++i) {
            client.lock("a").acquire([&](error_code ec, holdfast::lease) {
                BOOST_TEST((ec == errc::client_stopped));
                ++ended;
            });
        }
        // One of them looked before and after the subscription.
        BOOST_TEST(co_await co_eventually(5s, [&] { return client.stats().refusals == 2; }));
        BOOST_TEST(client.stats().waiters_now == 100U);
        BOOST_TEST(client.stats().subscriptions_now == 1U);

        auto const before = commands_of(server);
        auto const sent = client.stats().commands;
        co_await holdfast::test::sleep_for(10s);
        auto const after = commands_of(server);
        for (auto const& [command, calls] : after) {
            auto const at = before.find(command);
            BOOST_TEST(calls == (at == before.end() ? 0 : at->second), command);
        }
        BOOST_TEST(client.stats().commands == sent);
        co_await client.shutdown();
        BOOST_TEST(co_await co_eventually(1s, [&] { return ended == 100; }));
        co_await held.release();
    });
}

BOOST_AUTO_TEST_CASE(show_5_a_release_reaches_a_waiter_elsewhere_without_a_timer_a_thousand_times) {
    redis_server server;
    run_with_deadline(
        [&](asio::any_io_executor executor) -> asio::awaitable<void> {
            auto settings = holdfast::parse_url(server.url());
            settings.fallback = 1h;
            holdfast::client left{executor, settings};
            holdfast::client right{executor, settings};
            holdfast::acquire_options const options{.lease = 1h};
            auto held = co_await left.lock("a").acquire(options);
            steady::duration longest{0};
            int late = 0;
            for (int i = 0; i < 1'000 && late == 0; ++i) {
                auto& client = i % 2 == 0 ? right : left;
                auto const refusals = client.stats().refusals;
                holdfast::lease next;
                steady::time_point granted_at{};
                client.lock("a").acquire(options, [&](error_code, holdfast::lease granted) {
                    next = std::move(granted);
                    granted_at = steady::now();
                });
                bool const waits =
                    co_await co_eventually(5s, [&] { return client.stats().refusals > refusals; });
                BOOST_REQUIRE(waits);
                auto const start = steady::now();
                co_await held.release();
                bool const arrived = co_await co_eventually(1s, [&] { return bool(next); });
                late += arrived ? 0 : 1;
                longest = std::max(longest, granted_at - start);
                held = std::move(next);
            }
            BOOST_TEST(late == 0);
            BOOST_TEST((longest < 1s));
            BOOST_TEST(left.stats().hand_overs + right.stats().hand_overs == 1'000U);
            co_await held.release();
        },
        100s
    );
}

// A tool that crashed half way, or an operator's PERSIST.
BOOST_AUTO_TEST_CASE(a_lock_that_never_expires_is_looked_at_again_and_reported) {
    redis_server server;
    log_lines log;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        auto settings = holdfast::parse_url(server.url());
        settings.fallback = 200ms;
        settings.log = log.sink();
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        std::string const holder = "71b96ce8-2746-4c7e-9a51-0f6de2f5a111:7";
        probe.cmd("HSET", "a", holder, 1);

        auto [ec, none] = co_await client.lock("a").try_acquire_for(300ms, as_result);
        BOOST_TEST(!ec, ec.message());
        BOOST_TEST(!none);
        holdfast::lease lease;
        client.lock("a").acquire([&](error_code, holdfast::lease granted) {
            lease = std::move(granted);
        });
        auto const before = client.stats().attempts;
        co_await holdfast::test::sleep_for(1500ms);
        auto const looked = client.stats().attempts - before;
        BOOST_TEST(looked >= 4U);
        BOOST_TEST(looked <= 10U);
        BOOST_TEST(log.count(holdfast::log_level::error, "no expiry") >= 1U);
        BOOST_TEST(log.count(holdfast::log_level::error, "no expiry") <= 2U);  // not at each look

        auto const info = co_await client.lock("a").inspect();
        BOOST_TEST(info.held);
        BOOST_TEST(info.never_expires);
        BOOST_TEST(!info.remaining);
        BOOST_TEST(info.holder == holder);
        BOOST_TEST(info.local_waiters == 1U);

        // Deleted without a message.
        probe.del("a");
        BOOST_TEST(co_await co_eventually(1s, [&] { return bool(lease); }));
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(fault_37_a_renewal_gives_a_persisted_key_its_expiry_back) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, server.url()};
        auto probe = server.probe();
        auto lease = co_await client.lock("a").acquire({.lease = 1500ms});
        probe.cmd("PERSIST", "a");
        BOOST_TEST(probe.pttl("a") == -1);
        BOOST_TEST(co_await co_eventually(1s, [&] { return probe.pttl("a") > 0; }));
        BOOST_TEST(lease.valid());
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(force_release_frees_a_lock_wakes_a_waiter_and_the_holder_learns_of_it) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client holder{executor, server.url()};
        holdfast::client waiter{executor, server.url()};
        holdfast::client operators{executor, server.url()};
        BOOST_TEST(!co_await operators.lock("a").force_release());

        auto held = co_await holder.lock("a").acquire({.lease = 3s});
        holdfast::lease next;
        waiter.lock("a").acquire({.lease = 1h}, [&](error_code, holdfast::lease granted) {
            next = std::move(granted);
        });
        BOOST_TEST(co_await co_eventually(2s, [&] { return waiter.stats().refusals == 2; }));
        BOOST_TEST(co_await operators.lock("a").force_release());
        auto const freed = steady::now();
        BOOST_TEST(co_await co_eventually(1s, [&] { return bool(next); }));
        BOOST_TEST(next.token().value > held.token().value);

        auto [ec, reason] = co_await held.wait_lost(as_result);
        BOOST_TEST(!ec);
        BOOST_TEST((reason == holdfast::loss_reason::taken));
        BOOST_TEST((steady::now() - freed < 1500ms));
        auto [released] = co_await held.release(as_result);
        BOOST_TEST((released == errc::lease_lost));
        BOOST_TEST(next.valid());
        co_await next.release();
    });
}

BOOST_AUTO_TEST_CASE(inspect_tells_who_has_the_lock) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, server.url()};
        auto const lock = client.lock("a");
        auto const unknown = co_await lock.inspect();
        BOOST_TEST(!unknown.held);
        BOOST_TEST(!unknown.remaining);
        BOOST_TEST(!unknown.never_expires);
        BOOST_TEST(unknown.holder.empty());
        BOOST_TEST(unknown.hold_count == 0U);
        BOOST_TEST(unknown.last_token.value == 0U);
        BOOST_TEST(unknown.local_waiters == 0U);

        auto lease = co_await lock.acquire({.lease = 30s});
        for (int i = 0; i < 3; ++i) {
            lock.acquire([](error_code, holdfast::lease) {});
        }
        BOOST_TEST(co_await co_eventually(2s, [&] { return client.stats().waiters_now == 3; }));
        auto const held = co_await lock.inspect();
        BOOST_TEST(held.held);
        BOOST_REQUIRE(held.remaining);
        BOOST_TEST(held.remaining->count() > 25'000);
        BOOST_TEST(held.remaining->count() <= 30'000);
        BOOST_TEST(!held.never_expires);
        BOOST_TEST(held.holder == server.probe().hgetall("a").begin()->first);
        BOOST_TEST(held.hold_count == 1U);
        BOOST_TEST(held.last_token.value == lease.token().value);
        BOOST_TEST(held.local_waiters == 3U);
        co_await client.shutdown();

        holdfast::client later{executor, server.url()};
        auto const free = co_await later.lock("a").inspect();
        BOOST_TEST(!free.held);
        BOOST_TEST(free.last_token.value == lease.token().value);
    });
}

BOOST_AUTO_TEST_CASE(a_key_prefix_separates_programs) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        auto settings = holdfast::parse_url(server.url());
        settings.key_prefix = "app:";
        holdfast::client client{executor, settings};
        holdfast::client other{executor, server.url()};
        BOOST_TEST(client.lock("a").name() == "app:a");
        auto lease = co_await client.lock("a").acquire();
        BOOST_TEST(
            server.probe().keys() ==
            (std::vector<std::string>{"app:a", "redisson_lock_token:{app:a}"})
        );
        auto free = co_await other.lock("a").try_acquire();
        BOOST_TEST(free.valid());
        auto busy = co_await other.lock("app:a").try_acquire();
        BOOST_TEST(!busy);
        co_await free.release();
        co_await lease.release();
        BOOST_TEST(!co_await client.lock("a").force_release());
    });
}

// Show 9 with a million names: HOLDFAST_NAMES=1000000.
BOOST_AUTO_TEST_CASE(show_9_names_that_were_used_once_leave_no_memory_behind) {
    int const names = from_environment("HOLDFAST_NAMES", 30'000);
    int const warm_up = std::max(5'000, names / 100);
    redis_server server;
    run_with_deadline(
        [&](asio::any_io_executor executor) -> asio::awaitable<void> {
            holdfast::client client{executor, server.url()};
            double after_warm_up = 0;
            for (int i = 0; i < names; ++i) {
                auto const lock = client.lock("order:{}", i);
                auto lease = co_await lock.acquire();
                co_await lease.release();
                if (i == warm_up) {
                    after_warm_up = resident_bytes();
                }
            }
            BOOST_TEST(resident_bytes() < 1.1 * after_warm_up);
            BOOST_TEST(client.stats().grants == static_cast<std::uint64_t>(names));
            BOOST_TEST(client.stats().leases_now == 0U);
        },
        std::max(100s, std::chrono::seconds{names / 500})
    );
}

// The same for names that somebody had to wait for.
BOOST_AUTO_TEST_CASE(show_9_names_that_were_waited_for_leave_no_subscription_behind) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, server.url()};
        for (int i = 0; i < 300; ++i) {
            auto const lock = client.lock("order:{}", i);
            auto first = co_await lock.acquire();
            holdfast::lease second;
            lock.acquire([&](error_code, holdfast::lease granted) { second = std::move(granted); });
            bool const waits =
                co_await co_eventually(2s, [&] { return client.stats().waiters_now == 1; });
            BOOST_REQUIRE(waits);
            co_await first.release();
            bool const granted = co_await co_eventually(2s, [&] { return bool(second); });
            BOOST_REQUIRE(granted);
            co_await second.release();
        }
        BOOST_TEST(co_await co_eventually(3s, [&] { return client.stats().subscriptions_now == 0; })
        );
        auto probe = server.probe();
        BOOST_TEST(co_await co_eventually(1s, [&] { return probe.pubsub_channels().empty(); }));
    });
}
