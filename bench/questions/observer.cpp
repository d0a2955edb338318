// What does an observer cost an acquire and its release that nobody competes with? Against the same
// without one, in turns so short that a machine which is slow for a while slows both. And the
// metrics of holdfast::prometheus, with a label for the lock?
#include "questions/questions.hpp"
#include "support/measure.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#ifdef HOLDFAST_BENCH_PROMETHEUS
#include <holdfast/prometheus.hpp>
#endif

#include <memory>
#include <string>
#include <vector>

namespace holdfast::bench {

namespace {

// Overrides all that a pair tells, and does nothing with it.
struct idle_observer final : observer {
    void on_acquire(acquisition const&) noexcept override {}
    void on_grant(acquisition const&, grant const&) noexcept override {}
    void on_release(held_lock const&, std::chrono::nanoseconds) noexcept override {}
};

asio::awaitable<void> add_pairs(lock const& on, int pairs, std::vector<double>& microseconds) {
    for (int i = 0; i < pairs; ++i) {
        auto const start = clock::now();
        auto lease = co_await on.acquire();
        co_await lease.release();
        microseconds.push_back(seconds_since(start) * 1e6);
    }
}

asio::awaitable<void> measure(
    environment& env,
    std::shared_ptr<observer> const& told,
    comparison& result
) {
    auto const executor = co_await asio::this_coro::executor;
    auto with = parse_url(env.url());
    auto const without = with;
    with.observer = told;
    client observed{executor, with};
    client alone{executor, without};
    co_await observed.ready();
    co_await alone.ready();
    auto const ours = observed.lock("observer:a");
    auto const floor = alone.lock("observer:b");

    constexpr int pairs_in_turn = 50;
    auto const turns = env.amount(60, 6);
    for (int round = -1; round < env.rounds(); ++round) {
        std::vector<double> o;
        std::vector<double> f;
        for (int turn = 0; turn < turns; ++turn) {
            // Who is second finds the caches as the first has left them.
            bool const first = turn % 2 == 0;
            co_await add_pairs(first ? ours : floor, pairs_in_turn, first ? o : f);
            co_await add_pairs(first ? floor : ours, pairs_in_turn, first ? f : o);
        }
        if (round >= 0) {  // the first one warms up
            env.progress(round);
            result.add(median(std::move(o)), median(std::move(f)));
        }
    }
    co_await observed.shutdown();
    co_await alone.shutdown();
}

figure cost_of(environment& env, std::shared_ptr<observer> const& told, std::string note) {
    comparison result{"observer", "us", {budget::kind::ratio_at_most, 1.02}};
    run(measure(env, told, result));
    return result.result(std::move(note));
}

}  // namespace

figures observer_cost(environment& env) {
    figures all{cost_of(env, std::make_shared<idle_observer>(), "one that does nothing, p50")};
#ifdef HOLDFAST_BENCH_PROMETHEUS
    prometheus_options options;
    options.lock_label = [](std::string_view lock) {
        return std::string{lock.substr(0, lock.find(':'))};
    };
    all.push_back(cost_of(
        env,
        std::make_shared<prometheus_metrics>(std::move(options)),
        "holdfast::prometheus, p50"
    ));
#endif
    return all;
}

}  // namespace holdfast::bench
