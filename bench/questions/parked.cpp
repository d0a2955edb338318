// Do waiters leave the server in peace while nothing happens? The floor is a server without them.
#include "questions/questions.hpp"
#include "support/measure.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <stdexcept>

namespace holdfast::bench {

namespace {

constexpr int keys = 20;
constexpr int waiters_per_key = 50;
constexpr int waiters = keys * waiters_per_key;

// Health checks and our own questions do not count.
std::int64_t commands(environment& env) {
    std::int64_t sum = 0;
    for (auto const& [name, calls] : env.probe().commandstats()) {
        if (name != "ping" && name != "info") {
            sum += calls;
        }
    }
    return sum;
}

asio::awaitable<double> commands_per_second(environment& env, std::chrono::milliseconds window) {
    auto const before = commands(env);
    auto const start = clock::now();
    co_await sleep_for(window);
    co_return static_cast<double>(commands(env) - before) / seconds_since(start);
}

// Until the client is shut down.
asio::awaitable<void> wait_in_vain(lock const on) {
    boost::system::error_code ec;
    auto const lease = co_await on.acquire(asio::redirect_error(asio::use_awaitable, ec));
    if (ec != errc::client_stopped) {
        throw std::runtime_error{"a parked waiter did not wait: " + ec.message()};
    }
}

asio::awaitable<void> settle(client const& locks) {
    for (int i = 0; i < 500; ++i) {
        auto const now = locks.stats();
        if (now.waiters_now == waiters && now.subscriptions_now == keys) {
            break;
        }
        co_await sleep_for(std::chrono::milliseconds{10});
    }
    // Each key is tried once more when its subscription is confirmed.
    co_await sleep_for(std::chrono::milliseconds{200});
}

asio::awaitable<void> measure(environment& env, comparison& result) {
    auto const executor = co_await asio::this_coro::executor;
    std::chrono::milliseconds const window{env.amount(2000, 500)};
    for (int i = 0; i < keys; ++i) {
        auto const key = fmt::format("parked:{}", i);
        env.probe().cmd("HSET", key, "6ba7b810-9dad-11d1-80b4-00c04fd430c8:1", "1");
        env.probe().cmd("PEXPIRE", key, 3'600'000);
    }
    for (int round = 0; round < env.rounds(); ++round) {
        env.progress(round);
        auto const floor = co_await commands_per_second(env, window / 4);

        client locks{executor, env.url()};
        task_group group{executor};
        for (int i = 0; i < waiters; ++i) {
            group.spawn(wait_in_vain(locks.lock("parked:{}", i % keys)));
        }
        co_await settle(locks);
        auto const ours = co_await commands_per_second(env, window);
        co_await locks.shutdown();
        co_await group.join();
        result.add(ours, floor);
    }
    for (int i = 0; i < keys; ++i) {
        env.probe().del(fmt::format("parked:{}", i));
    }
}

}  // namespace

figures parked(environment& env) {
    comparison result{"parked", "commands/s", {budget::kind::ours_at_most, 0.0}};
    run(measure(env, result));
    return {result.result(fmt::format("{} waiters on {} keys", waiters, keys))};
}

}  // namespace holdfast::bench
