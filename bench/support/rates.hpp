#ifndef HOLDFAST_BENCH_SUPPORT_RATES_HPP
#define HOLDFAST_BENCH_SUPPORT_RATES_HPP

#include "support/bare_lock.hpp"
#include "support/measure.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <chrono>

namespace holdfast::bench {

/// One coroutine acquires and releases as fast as it goes: two round trips each.
inline asio::awaitable<double> pairs_per_second(bare_lock& on, std::chrono::milliseconds duration) {
    int grants = 0;
    auto const start = clock::now();
    while (clock::now() < start + duration) {
        co_await on.acquire();
        co_await on.release();
        ++grants;
    }
    co_return grants / seconds_since(start);
}

template <class Lock>
asio::awaitable<void> acquire_until(Lock const on, clock::time_point end, int& grants) {
    while (clock::now() < end) {
        auto lease = co_await on.acquire();
        ++grants;
        co_await lease.release();
    }
}

/// So many coroutines of one client do so.
template <class Lock>
asio::awaitable<double> grants_per_second(
    Lock const& on,
    int coroutines,
    std::chrono::milliseconds duration
) {
    task_group group{co_await asio::this_coro::executor};
    int grants = 0;
    auto const start = clock::now();
    for (int i = 0; i < coroutines; ++i) {
        group.spawn(acquire_until(on, start + duration, grants));
    }
    co_await group.join();
    co_return grants / seconds_since(start);
}

}  // namespace holdfast::bench

#endif
