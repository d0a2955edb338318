// Workers that begin when all of them are ready, and somebody who waits until all are done: two
// latches. The two clients stand for two processes.
#include "main.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <chrono>

using namespace std::chrono_literals;

namespace {

constexpr int workers = 6;

asio::awaitable<void> pause(std::chrono::milliseconds length) {
    asio::steady_timer timer{co_await asio::this_coro::executor, length};
    co_await timer.async_wait(asio::use_awaitable);
}

struct progress {
    int ready = 0;
    int begun_before_all_were_ready = 0;
};

asio::awaitable<void> work(holdfast::client& client, int number, progress& all) {
    auto start = client.latch("race:start");
    auto done = client.latch("race:done");

    co_await pause(number * 3ms);  // stands for getting ready
    ++all.ready;
    co_await start.count_down();
    co_await start.wait();  // the last one lets all begin
    if (all.ready < workers) {
        ++all.begun_before_all_were_ready;
    }
    fmt::print("worker {} begins\n", number);
    co_await done.count_down();
}

}  // namespace

asio::awaitable<void> co_main(holdfast::config config) {
    auto const executor = co_await asio::this_coro::executor;
    holdfast::client here{executor, config};
    holdfast::client there{executor, config};

    // A latch that is not set is open: it is set before anybody waits for it.
    auto start = here.latch("race:start");
    auto done = here.latch("race:done");
    bool const new_start = co_await start.try_set(workers);
    bool const new_done = co_await done.try_set(workers);
    expect(new_start && new_done, "a race was on already");

    progress all;
    for (int number = 0; number < workers; ++number) {
        auto& client = number % 2 == 0 ? here : there;
        asio::co_spawn(executor, work(client, number, all), asio::detached);
    }
    co_await done.wait();
    fmt::print("all have begun\n");
    expect(all.begun_before_all_were_ready == 0, "a worker began too early");
}
