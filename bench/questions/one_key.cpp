// How many grants a second do 1 000 coroutines of one process get on one key? Against one coroutine
// that sends the two scripts in turn: faster than that the server alone cannot hand the lock over.
#include "questions/questions.hpp"
#include "support/bare_lock.hpp"
#include "support/measure.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

namespace holdfast::bench {

namespace {

constexpr int coroutines = 1000;

asio::awaitable<void> repeat(lock const on, int pairs) {
    for (int i = 0; i < pairs; ++i) {
        auto lease = co_await on.acquire();
        co_await lease.release();
    }
}

asio::awaitable<double> ours(lock const& on, int pairs) {
    task_group group{co_await asio::this_coro::executor};
    auto const start = clock::now();
    for (int i = 0; i < coroutines; ++i) {
        group.spawn(repeat(on, pairs));
    }
    co_await group.join();
    co_return (coroutines * pairs) / seconds_since(start);
}

asio::awaitable<double> floor(bare_lock& on, int pairs) {
    auto const start = clock::now();
    for (int i = 0; i < pairs; ++i) {
        co_await on.acquire();
        co_await on.release();
    }
    co_return pairs / seconds_since(start);
}

asio::awaitable<void> measure(environment& env, comparison& result) {
    auto const executor = co_await asio::this_coro::executor;
    client locks{executor, env.url()};
    co_await locks.ready();
    auto const lock = locks.lock("one_key:ours");
    bare_connection connection{executor, env.socket()};
    bare_lock bare{connection, "one_key:bare"};

    co_await floor(bare, 100);
    co_await ours(lock, 1);
    for (int round = 0; round < env.rounds(); ++round) {
        env.progress(round);
        auto const f = co_await floor(bare, env.amount(5000, 1000));
        auto const o = co_await ours(lock, env.amount(5, 1));
        result.add(o, f);
    }
    co_await locks.shutdown();
}

}  // namespace

figures one_key(environment& env) {
    comparison result{"one_key", "grants/s", {budget::kind::ratio_at_least, 0.9}};
    run(measure(env, result));
    return {result.result()};
}

}  // namespace holdfast::bench
