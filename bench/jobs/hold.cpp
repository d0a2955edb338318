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
    acquire_options how;
    if (options.learned) {
        how.lease = learned;
    }
    std::vector<lease> held;
    for (int i = 0; i < options.keys; ++i) {
        auto const lock = locks.lock("{}:{}", options.name, i);
        for (int turn = 0; turn < options.brief_holds; ++turn) {
            auto const brief_lease = co_await lock.acquire(how);
            co_await sleep_for(std::chrono::milliseconds{50});
        }
        held.push_back(co_await lock.acquire(how));
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
