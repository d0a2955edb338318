// SIGTERM: no new work is taken, the current job may end, and is cancelled if that takes too long;
// its lease is released, the client shut down, and the exit code is 0.
#include "main.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <utility>

using namespace std::chrono_literals;

asio::awaitable<void> co_main(holdfast::config config) {
    auto executor = co_await asio::this_coro::executor;
    asio::signal_set signals{executor, SIGTERM, SIGINT};
    holdfast::client client{executor, std::move(config)};

    bool stopping = false;
    int ended = 0;

    auto job = [&](holdfast::lease&) -> asio::awaitable<void> {
        fmt::print("job {}\n", ended + 1);
        asio::steady_timer work{executor, 200ms};
        co_await work.async_wait();
        ++ended;
    };
    auto work = [&]() -> asio::awaitable<void> {
        auto lock = client.lock("jobs");
        while (!stopping) {
            co_await holdfast::with_lease(lock, job);
        }
    };
    auto watch = [&]() -> asio::awaitable<void> {
        co_await signals.async_wait();
        signals.clear();  // a second signal ends the program at once
        fmt::print("asked to stop: {} jobs have ended, waiting for the current one\n", ended);
        stopping = true;
        asio::steady_timer patience{executor, 1s};
        co_await patience.async_wait();
    };

    // What a supervisor would do.
    asio::steady_timer soon{executor, 500ms};
    soon.async_wait([](holdfast::error_code ec) {
        if (!ec) {
            std::raise(SIGTERM);
        }
    });

    // Whichever ends first cancels the other; a cancelled with_lease releases its lease.
    auto both = asio::experimental::make_parallel_group(
        asio::co_spawn(executor, work, asio::deferred),
        asio::co_spawn(executor, watch, asio::deferred)
    );
    auto race = std::move(both).async_wait(asio::experimental::wait_for_one{}, asio::deferred);
    auto [order, failure, watch_failure] = co_await std::move(race);
    co_await client.shutdown();  // throws if something of ours may be left on the server
    fmt::print("{} jobs have ended, nothing is locked any more\n", ended);
    if (failure && order[0] == 0) {  // it failed by itself
        std::rethrow_exception(failure);
    }
    expect(stopping, "the signal did not come");
}
