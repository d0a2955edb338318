// What does the lock cost a coroutine that nobody competes with? Against two bare round trips.
#include "questions/questions.hpp"
#include "support/bare_lock.hpp"
#include "support/measure.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

namespace holdfast::bench {

namespace {

asio::awaitable<double> ours(lock const& on, int pairs) {
    std::vector<double> microseconds;
    for (int i = 0; i < pairs; ++i) {
        auto const start = clock::now();
        auto lease = co_await on.acquire();
        co_await lease.release();
        microseconds.push_back(seconds_since(start) * 1e6);
    }
    co_return median(std::move(microseconds));
}

asio::awaitable<double> floor(bare_lock& on, int pairs) {
    std::vector<double> microseconds;
    for (int i = 0; i < pairs; ++i) {
        auto const start = clock::now();
        co_await on.acquire();
        co_await on.release();
        microseconds.push_back(seconds_since(start) * 1e6);
    }
    co_return median(std::move(microseconds));
}

asio::awaitable<void> measure(environment& env, comparison& result) {
    auto const executor = co_await asio::this_coro::executor;
    client locks{executor, env.url()};
    co_await locks.ready();
    auto const lock = locks.lock("pair:ours");
    bare_connection connection{executor, env.socket()};
    bare_lock bare{connection, "pair:bare"};

    auto const pairs = env.amount(2000, 300);
    co_await ours(lock, pairs / 10);
    co_await floor(bare, pairs / 10);
    for (int round = 0; round < env.rounds(); ++round) {
        env.progress(round);
        auto const f = co_await floor(bare, pairs);
        auto const o = co_await ours(lock, pairs);
        result.add(o, f);
    }
    co_await locks.shutdown();
}

}  // namespace

figures pair(environment& env) {
    comparison result{"pair", "us", {budget::kind::ratio_at_most, 1.10}};
    run(measure(env, result));
    return {result.result("p50")};
}

}  // namespace holdfast::bench
