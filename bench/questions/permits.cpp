// What does a permit cost a coroutine that nobody competes with? Against the same scripts, bare.
#include "protocol/semaphore.hpp"
#include "questions/questions.hpp"
#include "support/bare_lock.hpp"
#include "support/measure.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

namespace holdfast::bench {

namespace {

template <class Pair>
asio::awaitable<double> median_of(int pairs, Pair pair) {
    std::vector<double> microseconds;
    for (int i = 0; i < pairs; ++i) {
        auto const start = clock::now();
        co_await pair();
        microseconds.push_back(seconds_since(start) * 1e6);
    }
    co_return median(std::move(microseconds));
}

asio::awaitable<void> measure(environment& env, comparison& result) {
    auto const executor = co_await asio::this_coro::executor;
    client locks{executor, env.url()};
    co_await locks.ready();
    auto const pool = locks.semaphore("permits:ours");
    auto const other = locks.semaphore("permits:bare");
    co_await pool.try_set_permits(10);
    co_await other.try_set_permits(10);
    bare_connection connection{executor, env.socket()};
    bare_lock bare{connection, detail::make_semaphore_target({}, "permits:bare")};

    auto const ours = [&]() -> asio::awaitable<void> {
        auto lease = co_await pool.acquire();
        co_await lease.release();
    };
    auto const floor = [&]() -> asio::awaitable<void> {
        co_await bare.acquire();
        co_await bare.release();
    };
    constexpr int pairs = 300;
    co_await median_of(pairs, ours);
    co_await median_of(pairs, floor);
    auto const rounds = env.short_rounds();
    for (int round = 0; round < rounds; ++round) {
        env.progress(round, rounds);
        auto const f = co_await median_of(pairs, floor);
        auto const o = co_await median_of(pairs, ours);
        result.add(o, f);
    }
    co_await locks.shutdown();
}

}  // namespace

figures permits(environment& env) {
    comparison result{"permits", "us", {budget::kind::ratio_at_most, 1.10}};
    run(measure(env, result));
    return {result.result("p50")};
}

}  // namespace holdfast::bench
