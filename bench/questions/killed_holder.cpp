// A holder is killed: how long after the end of its lease has a waiter the lock? The floor knows
// when the lease ends, sleeps until then, and tries until it gets it.
#include "questions/questions.hpp"
#include "support/bare_lock.hpp"
#include "support/measure.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <stdexcept>

namespace holdfast::bench {

namespace {

constexpr int keys = 8;
constexpr int lease_ms = 1000;

using instants = std::vector<clock::time_point>;

instants ends_of_leases(environment& env, std::string_view name) {
    instants ends;
    for (int i = 0; i < keys; ++i) {
        auto const left = env.probe().pttl(fmt::format("{}:{}", name, i));
        if (left < 0) {
            throw std::runtime_error{"the lease ended too early to be measured"};
        }
        ends.push_back(clock::now() + std::chrono::milliseconds{left});
    }
    return ends;
}

std::vector<double> delays_ms(instants const& ends, instants const& grants) {
    std::vector<double> delays;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        delays.push_back(std::chrono::duration<double, std::milli>{grants[i] - ends[i]}.count());
    }
    return delays;
}

asio::awaitable<void> succeed(lock const on, clock::time_point& granted) {
    auto lease = co_await on.acquire();
    granted = clock::now();
    co_await lease.release();
}

asio::awaitable<std::vector<double>> ours(environment& env, client const& locks) {
    constexpr std::string_view name = "killed_holder:ours";
    auto holder = env.start_child({
        "hold",
        "--socket",
        env.socket(),
        "--name",
        std::string{name},
        "--keys",
        std::to_string(keys),
        "--lease-ms",
        std::to_string(lease_ms),
    });
    if (holder.read_line() != "held") {
        throw std::runtime_error{"the holder failed"};
    }
    instants grants(keys);
    task_group group{co_await asio::this_coro::executor};
    for (int i = 0; i < keys; ++i) {
        group.spawn(succeed(locks.lock("{}:{}", name, i), grants[static_cast<std::size_t>(i)]));
    }
    co_await sleep_for(std::chrono::milliseconds{100});
    holder.kill();
    auto const ends = ends_of_leases(env, name);
    co_await group.join();
    co_return delays_ms(ends, grants);
}

asio::awaitable<void> succeed_bare(
    bare_lock& on,
    clock::time_point end,
    clock::time_point& granted
) {
    co_await sleep_until(end);
    // Not in the condition: GCC 12 compiles a loop with co_await there and an empty body into a
    // trap.
    std::uint64_t token = 0;
    while (token == 0) {
        token = co_await on.acquire();
    }
    granted = clock::now();
    co_await on.release();
}

asio::awaitable<std::vector<double>> floor(environment& env, bare_connection& connection) {
    constexpr std::string_view name = "killed_holder:bare";
    std::deque<bare_lock> locks;
    for (int i = 0; i < keys; ++i) {
        // Acquired and never released: the server does not know why.
        bare_lock holder{
            connection,
            fmt::format("{}:{}", name, i),
            std::chrono::milliseconds{lease_ms}
        };
        co_await holder.acquire();
        locks.emplace_back(connection, fmt::format("{}:{}", name, i));
    }
    auto const ends = ends_of_leases(env, name);
    instants grants(keys);
    task_group group{co_await asio::this_coro::executor};
    for (std::size_t i = 0; i < keys; ++i) {
        group.spawn(succeed_bare(locks[i], ends[i], grants[i]));
    }
    co_await group.join();
    co_return delays_ms(ends, grants);
}

asio::awaitable<void> measure(environment& env, comparison& result, double& worst) {
    auto const executor = co_await asio::this_coro::executor;
    client locks{executor, env.url()};
    bare_connection connection{executor, env.socket()};
    for (int round = 0; round < env.rounds(); ++round) {
        env.progress(round);
        auto const f = co_await floor(env, connection);
        auto const o = co_await ours(env, locks);
        worst = std::max(worst, quantile(o, 1.0));
        result.add(median(o), median(f));
    }
    co_await locks.shutdown();
}

}  // namespace

figures killed_holder(environment& env) {
    comparison result{"killed_holder", "ms", {budget::kind::ours_at_most, 50.0}};
    double worst = 0.0;
    run(measure(env, result, worst));
    return {result.result(fmt::format("after the end of the lease; worst {:.0f} ms", worst))};
}

}  // namespace holdfast::bench
