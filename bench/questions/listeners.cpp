// What do those who only listen to a contended lock's channel cost it? Four clients pass the lock
// to each other, beside five subscribers; the floor is the same without them. The server cannot
// tell such a subscriber from a client that waits and does not queue, so it gets turns, more and
// more rarely.
#include "questions/questions.hpp"
#include "support/bare_notifications.hpp"
#include "support/rates.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <deque>
#include <memory>

namespace holdfast::bench {

namespace {

constexpr int clients = 4;
constexpr int subscribers = 5;
constexpr std::chrono::microseconds hold{300};

asio::awaitable<void> pass_on(lock on, bool const& stop, int& grants) {
    while (!stop) {
        auto lease = co_await on.acquire();
        ++grants;
        co_await sleep_for(hold);
        co_await lease.release();
    }
}

asio::awaitable<double> grants_in(int const& grants, std::chrono::milliseconds time) {
    auto const before = grants;
    auto const start = clock::now();
    co_await sleep_for(time);
    co_return (grants - before) / seconds_since(start);
}

asio::awaitable<void> measure(environment& env, comparison& result) {
    auto const executor = co_await asio::this_coro::executor;
    std::deque<client> all;
    task_group group{executor};
    bool stop = false;
    int grants = 0;
    for (int i = 0; i < clients; ++i) {
        auto& one = all.emplace_back(executor, env.url());
        co_await one.ready();
        group.spawn(pass_on(one.lock("listeners:lock"), stop, grants));
    }
    std::chrono::milliseconds const time{env.amount(2'000, 200)};
    for (int round = -1; round < env.rounds(5); ++round) {
        auto const floor = co_await grants_in(grants, time);
        std::deque<bare_notifications> idle;
        for (int i = 0; i < subscribers; ++i) {
            auto& one =
                idle.emplace_back(std::make_unique<bare_connection>(executor, env.socket()));
            co_await one.subscribe("listeners:lock");
        }
        // The first turns come sooner.
        co_await sleep_for(time);
        auto const ours = co_await grants_in(grants, time);
        if (round >= 0) {  // the first one warms up
            env.progress(round);
            result.add(ours, floor);
        }
    }
    stop = true;
    co_await group.join();
    for (auto& each : all) {
        co_await each.shutdown();
    }
}

}  // namespace

figures listeners(environment& env) {
    comparison result{"listeners", "grants/s", {budget::kind::ratio_at_least, 0.95}};
    run(measure(env, result));
    return {result.result("five subscribers; floor: none")};
}

}  // namespace holdfast::bench
