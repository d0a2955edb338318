// How many read leases a second do 1 000 coroutines of one process get on one read/write lock?
// Against one coroutine that sends the two scripts of a lock in turn: two round trips each.
#include "questions/questions.hpp"
#include "support/bare_lock.hpp"
#include "support/measure.hpp"
#include "support/rates.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

namespace holdfast::bench {

namespace {

constexpr int coroutines = 1000;

asio::awaitable<void> measure(environment& env, comparison& ratio) {
    auto const executor = co_await asio::this_coro::executor;
    client locks{executor, env.url()};
    co_await locks.ready();
    auto const lock = locks.read_write_lock("readers:ours").read();
    bare_connection connection{executor, env.socket()};
    bare_lock bare{connection, "readers:bare"};

    constexpr std::chrono::milliseconds duration{100};
    co_await pairs_per_second(bare, duration);
    co_await grants_per_second(lock, coroutines, duration);
    auto const rounds = env.short_rounds();
    for (int round = 0; round < rounds; ++round) {
        env.progress(round, rounds);
        auto const f = co_await pairs_per_second(bare, duration);
        ratio.add(co_await grants_per_second(lock, coroutines, duration), f);
    }
    co_await locks.shutdown();
}

}  // namespace

figures readers(environment& env) {
    comparison ratio{"readers", "grants/s", {budget::kind::ratio_at_least, 20.0}};
    run(measure(env, ratio));
    return {ratio.result("1 000 coroutines")};
}

}  // namespace holdfast::bench
