// The last count-down of a latch lets 1 000 waiters in 4 processes pass: how long does that take?
// The floor is a message to one subscriber.
#include "questions/questions.hpp"
#include "support/bare_notifications.hpp"
#include "support/measure.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <stdexcept>

namespace holdfast::bench {

namespace {

constexpr int processes = 4;
constexpr int waiters = 1000;
constexpr int count = 100;

double milliseconds_between(std::int64_t from, std::int64_t to) {
    return static_cast<double>(to - from) / 1e6;
}

std::string next_line(test::child_process& from) {
    if (auto line = from.read_line()) {
        return *line;
    }
    throw std::runtime_error{"the waiters of a latch failed"};
}

// Until the last one has passed.
asio::awaitable<double> ours(environment& env, latch const on) {
    co_await on.try_set(count);
    std::deque<test::child_process> children;
    for (int i = 0; i < processes; ++i) {
        children.push_back(env.start_child({
            "pass",
            "--socket",
            env.socket(),
            "--name",
            "latch:ours",
            "--waiters",
            std::to_string(waiters / processes),
        }));
    }
    for (auto& one : children) {
        next_line(one);
    }
    co_await on.count_down(count - 1);
    auto const start = now_ns();
    co_await on.count_down();
    long long last = 0;
    for (auto& one : children) {
        last = std::max(last, std::stoll(next_line(one)));
    }
    co_return milliseconds_between(start, last);
}

asio::awaitable<double> floor(environment& env, bare_notifications& told) {
    told.forget();
    auto const start = now_ns();
    env.probe().cmd("PUBLISH", "redisson_lock__channel:{latch:bare}", "0");
    co_await told.wait();
    co_return milliseconds_between(start, now_ns());
}

asio::awaitable<void> measure(environment& env, comparison& result, double& worst) {
    auto const executor = co_await asio::this_coro::executor;
    client counting{executor, env.url()};
    bare_notifications told{std::make_unique<bare_connection>(executor, env.socket())};
    co_await told.subscribe("latch:bare");
    for (int round = 0; round < env.rounds(); ++round) {
        env.progress(round);
        auto const f = co_await floor(env, told);
        auto const o = co_await ours(env, counting.latch("latch:ours"));
        worst = std::max(worst, o);
        result.add(o, f);
    }
    co_await counting.shutdown();
}

}  // namespace

figures latch_opens(environment& env) {
    comparison result{"latch", "ms", {budget::kind::ours_at_most, 1000.0}};
    double worst = 0.0;
    run(measure(env, result, worst));
    return {result.result(
        fmt::format("{} waiters in {} processes; worst {:.1f} ms", waiters, processes, worst)
    )};
}

}  // namespace holdfast::bench
