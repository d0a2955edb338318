#include "jobs/jobs.hpp"
#include "support/bare_lock.hpp"
#include "support/bare_notifications.hpp"
#include "support/measure.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <fmt/format.h>

#include <vector>

namespace holdfast::bench {

namespace {

struct turn {
    std::uint64_t token;
    std::int64_t called;
    std::int64_t granted;
    std::int64_t releasing;
};

using turns = std::vector<turn>;

clock::time_point start_of(contend_options const& options) {
    return clock::time_point{std::chrono::nanoseconds{options.start_at}};
}

clock::time_point end_of(contend_options const& options) {
    return start_of(options) + std::chrono::milliseconds{options.duration_ms};
}

asio::awaitable<void> pause(int microseconds) {
    if (microseconds > 0) {
        co_await sleep_for(std::chrono::microseconds{microseconds});
    }
}

asio::awaitable<void> ours(contend_options const& options, turns& done) {
    client locks{co_await asio::this_coro::executor, "unix://" + options.socket};
    co_await locks.ready();
    auto const lock = locks.lock(options.name);
    co_await sleep_until(start_of(options));
    while (clock::now() < end_of(options)) {
        turn now{};
        now.called = now_ns();
        auto lease = co_await lock.acquire();
        now.granted = now_ns();
        now.token = lease.token().value;
        co_await pause(options.hold_us);
        now.releasing = now_ns();
        co_await lease.release();
        done.push_back(now);
        co_await pause(options.pause_us);
    }
    co_await locks.shutdown();
}

// The simplest lock that loses no wake-up: it stays subscribed and tries at each message.
asio::awaitable<void> bare(contend_options const& options, turns& done) {
    auto const executor = co_await asio::this_coro::executor;
    bare_connection connection{executor, options.socket};
    bare_notifications notifications{executor, options.socket};
    bare_lock lock{connection, options.name};
    co_await notifications.subscribe(options.name);
    co_await sleep_until(start_of(options));
    while (clock::now() < end_of(options)) {
        turn now{};
        now.called = now_ns();
        for (;;) {
            notifications.forget();
            now.token = co_await lock.acquire();
            if (now.token != 0) {
                break;
            }
            co_await notifications.wait();
        }
        now.granted = now_ns();
        co_await pause(options.hold_us);
        now.releasing = now_ns();
        co_await lock.release();
        done.push_back(now);
        co_await pause(options.pause_us);
    }
}

}  // namespace

void contend(contend_options const& options) {
    turns done;
    run(options.bare ? bare(options, done) : ours(options, done));
    for (auto const& t : done) {
        fmt::print("{} {} {} {}\n", t.token, t.called, t.granted, t.releasing);
    }
}

}  // namespace holdfast::bench
