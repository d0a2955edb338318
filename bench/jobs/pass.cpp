#include "jobs/jobs.hpp"
#include "support/measure.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <fmt/format.h>

#include <cstdio>

namespace holdfast::bench {

namespace {

asio::awaitable<void> pass_one(latch const on) {
    co_await on.wait();
}

asio::awaitable<void> pass_all(pass_options const& options) {
    auto const executor = co_await asio::this_coro::executor;
    client waiting{executor, parse_url("unix://" + options.socket)};
    task_group group{executor};
    for (int i = 0; i < options.waiters; ++i) {
        group.spawn(pass_one(waiting.latch(options.name)));
    }
    while (waiting.stats().subscriptions_now == 0) {
        co_await sleep_for(std::chrono::milliseconds{1});
    }
    // They look once more when the subscription is confirmed.
    co_await sleep_for(std::chrono::milliseconds{200});
    fmt::print("waiting\n");
    std::fflush(stdout);
    co_await group.join();
    fmt::print("{}\n", now_ns());
}

}  // namespace

void pass(pass_options const& options) {
    run(pass_all(options));
}

}  // namespace holdfast::bench
