// What a lock costs its server and its process: commands while nobody does anything, memory of
// names.

#include "support/one_server.hpp"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

using namespace holdfast::test;

namespace {

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

[[maybe_unused]] double bytes_in_use() {
    auto const heap = ::mallinfo2();
    return static_cast<double>(heap.uordblks) + static_cast<double>(heap.hblkhd);
}

int from_environment(char const* name, int otherwise) {
    auto const* text = std::getenv(name);
    return text ? std::max(std::atoi(text), otherwise) : otherwise;
}

}  // namespace

BOOST_AUTO_TEST_CASE(parked_waiters_send_nothing) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
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
        // The lock's channel, the client's own, and the one by which it is counted.
        BOOST_TEST(client.stats().subscriptions_now == 3U);

        auto const before = commands_of(server);
        auto const sent = client.stats().commands;
        co_await sleep_for(10s);
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

// HOLDFAST_NAMES=1000000 does it with a million names.
BOOST_AUTO_TEST_CASE(names_that_were_used_once_leave_no_memory_behind) {
    int const names = from_environment("HOLDFAST_NAMES", 30'000);
    int const warm_up = std::max(5'000, names / 100);
    with_client(
        [&](holdfast::client& client, redis_probe&) -> task {
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
BOOST_AUTO_TEST_CASE(names_that_were_waited_for_leave_no_subscription_behind) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
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
        BOOST_TEST(co_await co_eventually(1s, [&] { return probe.pubsub_channels().empty(); }));
    });
}

#ifndef HOLDFAST_TEST_SANITIZER  // its allocator keeps no account
// What a burst of requests needed is given back with the connection: the next one does not keep it,
// whether the burst left as few large requests or as many small ones.
BOOST_AUTO_TEST_CASE(a_burst_leaves_no_memory_behind_after_a_reconnection) {
    struct {
        int turns;
        int attempts;  // in each turn: they leave together
    } const table[] = {{4, 2'000}, {320, 25}};
    for (auto const& row : table) {
        with_server([&](redis_server& server, asio::any_io_executor executor) -> task {
            holdfast::client client{executor, server.url()};
            co_await client.ready();
            auto const before = bytes_in_use();
            int ended = 0;
            server.pause();
            for (int turn = 0; turn < row.turns; ++turn) {
                for (int i = 0; i < row.attempts; ++i) {
                    auto const name = std::to_string(turn) + ":" + std::to_string(i) + ":";
                    client.lock(name + std::string(500 - name.size(), 'x'))
                        .try_acquire([&](error_code, holdfast::lease) { ++ended; });
                }
                co_await sleep_for(1us);
            }
            // Each is a script's name, three keys, and a few arguments.
            auto const burst = static_cast<double>(row.turns * row.attempts) * 1'000;
            BOOST_TEST(bytes_in_use() - before > burst);
            // The attempts are withdrawn on the next connection, so that is another burst.
            auto const reconnects = client.stats().reconnects;
            server.restart(false);
            auto const all_over = [&] { return ended == row.turns * row.attempts; };
            BOOST_TEST(co_await co_eventually(10s, all_over));
            auto const again = [&] { return client.stats().reconnects >= reconnects + 2; };
            BOOST_TEST(co_await co_eventually(10s, again));
            auto lease = co_await client.lock("after them").acquire();
            co_await lease.release();
            // They leave over some time, and those that had not left would be the next burst.
            auto const withdrawn = [&] { return commands_of(server)["evalsha"] > ended; };
            BOOST_TEST(co_await co_eventually(10s, withdrawn));
            server.restart(false);
            auto const small = [&] { return bytes_in_use() - before < burst / 4; };
            BOOST_TEST(co_await co_eventually(10s, small));
        });
    }
}
#endif
