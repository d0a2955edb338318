// How many pairs a second do 1 000 coroutines get out of one client, each with a key of its own,
// and what does a pair cost this process? Against Boost.Redis with the same scripts.
#include "questions/questions.hpp"
#include "support/bare_lock.hpp"
#include "support/measure.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <fmt/format.h>

#include <deque>

namespace holdfast::bench {

namespace {

constexpr int coroutines = 1000;

struct speed {
    double pairs_per_second;
    double cpu_microseconds;  // a pair
};

// Measures what runs between its construction and `stop`.
class stopwatch {
public:
    [[nodiscard]] speed stop(int pairs) const {
        auto const count = static_cast<double>(pairs);
        return {count / seconds_since(start_), (process_cpu_seconds() - cpu_) / count * 1e6};
    }

private:
    double cpu_ = process_cpu_seconds();
    clock::time_point start_ = clock::now();
};

asio::awaitable<void> repeat(lock const on, int pairs) {
    for (int i = 0; i < pairs; ++i) {
        auto lease = co_await on.acquire();
        co_await lease.release();
    }
}

asio::awaitable<void> repeat_bare(bare_lock& on, int pairs) {
    for (int i = 0; i < pairs; ++i) {
        co_await on.acquire();
        co_await on.release();
    }
}

asio::awaitable<speed> ours(client const& locks, int pairs) {
    task_group group{co_await asio::this_coro::executor};
    stopwatch const watch;
    for (int i = 0; i < coroutines; ++i) {
        group.spawn(repeat(locks.lock("many_keys:ours:{}", i), pairs));
    }
    co_await group.join();
    co_return watch.stop(coroutines * pairs);
}

asio::awaitable<speed> floor(std::deque<bare_lock>& locks, int pairs) {
    task_group group{co_await asio::this_coro::executor};
    stopwatch const watch;
    for (auto& lock : locks) {
        group.spawn(repeat_bare(lock, pairs));
    }
    co_await group.join();
    co_return watch.stop(coroutines * pairs);
}

asio::awaitable<void> measure(environment& env, comparison& rate, comparison& cpu) {
    auto const executor = co_await asio::this_coro::executor;
    client locks{executor, env.url()};
    co_await locks.ready();
    bare_connection connection{executor, env.socket()};
    std::deque<bare_lock> bare;
    for (int i = 0; i < coroutines; ++i) {
        bare.emplace_back(connection, fmt::format("many_keys:bare:{}", i));
    }

    auto const pairs = env.amount(20, 3);
    co_await floor(bare, 1);
    co_await ours(locks, 1);
    for (int round = 0; round < env.rounds(); ++round) {
        env.progress(round);
        auto const f = co_await floor(bare, pairs);
        auto const o = co_await ours(locks, pairs);
        rate.add(o.pairs_per_second, f.pairs_per_second);
        cpu.add(o.cpu_microseconds, f.cpu_microseconds);
    }
    co_await locks.shutdown();
}

}  // namespace

figures many_keys(environment& env) {
    comparison rate{"many_keys", "pairs/s", {budget::kind::ratio_at_least, 0.95}};
    comparison cpu{"many_keys_cpu", "us CPU a pair", {budget::kind::ratio_at_most, 1.12}};
    run(measure(env, rate, cpu));
    return {rate.result(), cpu.result()};
}

}  // namespace holdfast::bench
