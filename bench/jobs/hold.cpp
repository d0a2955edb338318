#include "jobs/jobs.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <vector>

namespace holdfast::bench {

namespace {

asio::awaitable<void> hold_all(hold_options const& options) {
    auto settings = parse_url("unix://" + options.socket);
    settings.lease = std::chrono::milliseconds{options.lease_ms};
    client locks{co_await asio::this_coro::executor, settings};
    std::vector<lease> held;
    for (int i = 0; i < options.keys; ++i) {
        auto const lock = locks.lock("{}:{}", options.name, i);
        held.push_back(co_await lock.acquire());
    }
    fmt::print("held\n");
    std::fflush(stdout);
    co_await sleep_for(std::chrono::minutes{1});  // until it is killed
}

}  // namespace

void hold(hold_options const& options) {
    run(hold_all(options));
}

}  // namespace holdfast::bench
