// What does a learned lease give? A holder of a lock that is usually held for 50 ms is killed: how
// soon has a waiter the lock? The floor is the lease of the configuration, 30 s. And how often is a
// usual hold renewed?
#include "questions/questions.hpp"
#include "support/measure.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>

namespace holdfast::bench {

namespace {

constexpr int holds = 1'000;
constexpr std::chrono::milliseconds usual_hold{2};

test::child_process start_holder(environment& env, std::string_view name, bool learns) {
    std::vector<std::string> arguments{
        "hold",
        "--socket",
        env.socket(),
        "--name",
        std::string{name},
        "--lease-ms",
        "30000",
        "--brief-holds",
        "20",
    };
    if (learns) {
        arguments.emplace_back("--learned");
    }
    auto holder = env.start_child(arguments);
    if (holder.read_line() != "held") {
        throw std::runtime_error{"the holder failed"};
    }
    return holder;
}

asio::awaitable<void> succeed(lock const on, double& seconds) {
    auto const start = clock::now();
    auto lease = co_await on.acquire();
    seconds = seconds_since(start);
    co_await lease.release();
}

asio::awaitable<void> kill_both(environment& env, comparison& result) {
    auto const executor = co_await asio::this_coro::executor;
    client locks{executor, env.url()};
    auto learned_one = start_holder(env, "learned", true);
    auto fixed_one = start_holder(env, "fixed", false);
    learned_one.kill();
    fixed_one.kill();
    double ours = 0;
    double floor = 0;
    task_group group{executor};
    group.spawn(succeed(locks.lock("learned:0"), ours));
    group.spawn(succeed(locks.lock("fixed:0"), floor));
    co_await group.join();
    result.add(1'000 * ours, 1'000 * floor);
    co_await locks.shutdown();
}

asio::awaitable<void> count_renewals(environment& env, comparison& result) {
    client locks{co_await asio::this_coro::executor, env.url()};
    auto const lock = locks.lock("learned:1");
    for (int i = 0; i < holds; ++i) {
        auto lease = co_await lock.acquire({.lease = learned});
        co_await sleep_for(usual_hold);
        co_await lease.release();
    }
    result.add(static_cast<double>(locks.stats().renewals), 0.0);
    co_await locks.shutdown();
}

}  // namespace

figures learned_lease(environment& env) {
    comparison succession{"learned", "ms", {budget::kind::ours_at_most, 6'000.0}};
    env.progress(0);
    run(kill_both(env, succession));
    comparison renewals{"learned_renewals", "renewals", {budget::kind::ours_at_most, 0.0}};
    run(count_renewals(env, renewals));
    return {
        succession.result("a killed holder's successor, beside a lease of 30 s"),
        renewals.result(fmt::format("in {} usual holds", holds)),
    };
}

}  // namespace holdfast::bench
