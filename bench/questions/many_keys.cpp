// How many pairs a second do 1 000 coroutines get out of one client, each with a key of its own,
// and what does a pair cost this process? Against Boost.Redis with the same scripts.
#include "questions/questions.hpp"
#include "support/bare_lock.hpp"
#include "support/pairs.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <fmt/format.h>

#include <deque>

namespace holdfast::bench {

namespace {

constexpr int coroutines = 1000;

asio::awaitable<void> measure(environment& env, comparison& rate, comparison& cpu) {
    auto const executor = co_await asio::this_coro::executor;
    client locks{executor, env.url()};
    co_await locks.ready();
    bare_connection connection{executor, env.socket()};
    std::deque<bare_lock> bare;
    std::deque<lock> ours;
    for (int i = 0; i < coroutines; ++i) {
        bare.emplace_back(connection, fmt::format("many_keys:bare:{}", i));
        ours.push_back(locks.lock("many_keys:ours:{}", i));
    }

    auto const pairs = env.amount(10, 3);
    co_await pairs_of_each(bare, 1);
    co_await pairs_of_each(ours, 1);
    auto const rounds = env.short_rounds();
    for (int round = 0; round < rounds; ++round) {
        env.progress(round, rounds);
        auto const f = co_await pairs_of_each(bare, pairs);
        auto const o = co_await pairs_of_each(ours, pairs);
        rate.add(o.pairs_per_second, f.pairs_per_second);
        cpu.add(o.cpu_microseconds, f.cpu_microseconds);
    }
    co_await locks.shutdown();
}

}  // namespace

figures many_keys(environment& env) {
    comparison rate{"many_keys", "pairs/s", {budget::kind::ratio_at_least, 0.90}};
    comparison cpu{"many_keys_cpu", "us CPU a pair", {budget::kind::ratio_at_most, 1.2}};
    run(measure(env, rate, cpu));
    return {rate.result(), cpu.result()};
}

}  // namespace holdfast::bench
