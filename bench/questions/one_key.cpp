// How many grants a second do 1 000 coroutines of one process get on one key? Against one coroutine
// that sends the two scripts in turn: faster than that the server alone cannot hand the lock over.
// And how long does another process wait for the same key meanwhile? Beside a bare lock that waits
// for one which is acquired and released as fast as it goes.
#include "questions/questions.hpp"
#include "support/bare_lock.hpp"
#include "support/contest.hpp"
#include "support/measure.hpp"
#include "support/rates.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::bench {

namespace {

constexpr int coroutines = 1000;

asio::awaitable<void> measure_rate(environment& env, comparison& ratio, comparison& rate) {
    auto const executor = co_await asio::this_coro::executor;
    client locks{executor, env.url()};
    co_await locks.ready();
    auto const lock = locks.lock("one_key:ours");
    bare_connection connection{executor, env.socket()};
    bare_lock bare{connection, "one_key:bare"};

    constexpr std::chrono::milliseconds duration{100};
    co_await pairs_per_second(bare, duration);
    co_await grants_per_second(lock, coroutines, duration);
    auto const rounds = env.short_rounds();
    for (int round = 0; round < rounds; ++round) {
        env.progress(round, rounds);
        auto const f = co_await pairs_per_second(bare, duration);
        auto const o = co_await grants_per_second(lock, coroutines, duration);
        ratio.add(o, f);
        rate.add(o, f);
    }
    co_await locks.shutdown();
}

// Milliseconds from the call to the grant, of a process that comes back now and then while another
// one never pauses.
std::vector<double> waits_beside(environment& env, std::string const& kind, int in_process) {
    contest const rules{
        .sides =
            {{.kind = kind, .processes = 1, .coroutines = in_process, .hold_us = 0},
             {.kind = kind, .processes = 1, .hold_us = 0, .pause_us = 2000}},
        .duration_ms = env.amount(2000, 400),
    };
    std::vector<double> waits;
    for (auto const& t : hold_contest(env, rules).turns) {
        if (t.side == 1) {
            waits.push_back(static_cast<double>(t.granted - t.called) / 1e6);
        }
    }
    return waits;
}

}  // namespace

figures one_key(environment& env) {
    comparison ratio{"one_key", "grants/s", {budget::kind::ratio_at_least, 20.0}};
    comparison rate{"one_key_rate", "grants/s", {budget::kind::ours_at_least, 100'000.0}};
    run(measure_rate(env, ratio, rate));

    comparison wait{"one_key_other_process", "ms", {budget::kind::ours_at_most, 20.0}};
    double worst = 0.0;
    auto const rounds = env.rounds(3);
    for (int round = 0; round < rounds; ++round) {
        env.progress(round, rounds);
        auto const f = waits_beside(env, "bare", 1);
        auto const o = waits_beside(env, "ours", coroutines);
        wait.add(quantile(o, 0.99), quantile(f, 0.99));
        worst = std::max(worst, quantile(o, 1.0));
    }
    return {
        ratio.result("1 000 coroutines"),
        rate.result(),
        wait.result(fmt::format("p99 of its waits; worst {:.0f} ms", worst)),
    };
}

}  // namespace holdfast::bench
