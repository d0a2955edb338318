// What does a lock cost a coroutine that nobody competes with? Against two bare round trips. And a
// multi-lock of two? Against the same scripts: one that takes both, and two releases at once.
#include "questions/questions.hpp"
#include "support/bare_lock.hpp"
#include "support/pairs.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

namespace holdfast::bench {

namespace {

template <class Lock, class Bare>
asio::awaitable<void> compare(environment& env, Lock const& lock, Bare& bare, comparison& result) {
    constexpr int pairs = 300;
    co_await pair_time(lock, pairs);
    co_await bare_pair_time(bare, pairs);
    auto const rounds = env.short_rounds();
    for (int round = 0; round < rounds; ++round) {
        env.progress(round, rounds);
        auto const f = co_await bare_pair_time(bare, pairs);
        auto const o = co_await pair_time(lock, pairs);
        result.add(o, f);
    }
}

asio::awaitable<void> measure(environment& env, comparison& result) {
    auto const executor = co_await asio::this_coro::executor;
    client locks{executor, env.url()};
    co_await locks.ready();
    bare_connection connection{executor, env.socket()};
    bare_lock bare{connection, "pair:bare"};
    auto const lock = locks.lock("pair:ours");
    co_await compare(env, lock, bare, result);
    co_await locks.shutdown();
}

asio::awaitable<void> measure_both(environment& env, comparison& result) {
    auto const executor = co_await asio::this_coro::executor;
    client locks{executor, env.url()};
    co_await locks.ready();
    bare_connection connection{executor, env.socket()};
    bare_locks bare{connection, "multi_lock:bare:a", "multi_lock:bare:b"};
    multi_lock const both{locks.lock("multi_lock:ours:a"), locks.lock("multi_lock:ours:b")};
    co_await compare(env, both, bare, result);
    co_await locks.shutdown();
}

}  // namespace

figures pair(environment& env) {
    comparison result{"pair", "us", {budget::kind::ratio_at_most, 1.15}};
    run(measure(env, result));
    return {result.result("p50")};
}

figures multi_lock_pair(environment& env) {
    comparison result{"multi_lock", "us", {budget::kind::ratio_at_most, 1.25}};
    run(measure_both(env, result));
    return {result.result("two members, p50")};
}

}  // namespace holdfast::bench
