// Ten licences of a program that may not run more often at a time, shared by all processes: a
// semaphore. A job that needs several takes them together. The clients stand for processes.
#include "main.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

using namespace std::chrono_literals;

namespace {

constexpr std::int64_t licences = 10;
constexpr int jobs = 40;

struct usage {
    std::int64_t now = 0;
    std::int64_t most = 0;
    int done = 0;
};

asio::awaitable<void> pause(std::chrono::milliseconds length) {
    asio::steady_timer timer{co_await asio::this_coro::executor, length};
    co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> run_job(holdfast::semaphore pool, std::int64_t needs, usage& in) {
    auto const wanted = pool.permits(needs);
    auto lease = co_await wanted.acquire();  // all of them, or it waits
    in.now += needs;
    in.most = std::max(in.most, in.now);
    co_await pause(5ms);  // stands for work
    in.now -= needs;
    ++in.done;
    co_await lease.release();
}

}  // namespace

asio::awaitable<void> co_main(holdfast::config config) {
    auto const executor = co_await asio::this_coro::executor;
    holdfast::client here{executor, config};
    holdfast::client there{executor, config};

    // Each process states how many there are. The first acquisition sets it, also after the server
    // lost its data.
    auto const pool = here.semaphore("licences").limit(licences);
    auto const theirs = there.semaphore("licences").limit(licences);

    usage in;
    for (int number = 0; number < jobs; ++number) {
        auto const& of = number % 2 == 0 ? pool : theirs;
        // A job that needs many is not passed by those that need one.
        asio::co_spawn(executor, run_job(of, number % 8 == 0 ? 4 : 1, in), asio::detached);
    }
    while (in.done < jobs) {
        co_await pause(1ms);
    }
    auto const after = co_await pool.inspect();
    fmt::print("{} jobs, at most {} licences at a time\n", in.done, in.most);
    expect(in.most <= licences, "more licences were used than there are");
    expect(after.available == licences, "a licence is missing");
}
