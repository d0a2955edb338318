#ifndef HOLDFAST_BENCH_SUPPORT_PAIRS_HPP
#define HOLDFAST_BENCH_SUPPORT_PAIRS_HPP

#include "support/bare_lock.hpp"
#include "support/measure.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <deque>
#include <utility>
#include <vector>

namespace holdfast::bench {

/// What an acquire and its release take one coroutine, in microseconds: the median.
template <class Lock>
asio::awaitable<double> pair_time(Lock const& on, int pairs) {
    std::vector<double> microseconds;
    for (int i = 0; i < pairs; ++i) {
        auto const start = clock::now();
        auto lease = co_await on.acquire();
        co_await lease.release();
        microseconds.push_back(seconds_since(start) * 1e6);
    }
    co_return median(std::move(microseconds));
}

template <class Bare>
asio::awaitable<double> bare_pair_time(Bare& on, int pairs) {
    std::vector<double> microseconds;
    for (int i = 0; i < pairs; ++i) {
        auto const start = clock::now();
        co_await on.acquire();
        co_await on.release();
        microseconds.push_back(seconds_since(start) * 1e6);
    }
    co_return median(std::move(microseconds));
}

struct pair_rate {
    double pairs_per_second = 0.0;
    double cpu_microseconds = 0.0;  // of this process, a pair
};

/// Measures what runs between its construction and `stop`.
class pair_watch {
public:
    [[nodiscard]] pair_rate stop(std::size_t pairs) const {
        auto const count = static_cast<double>(pairs);
        return {count / seconds_since(start_), (process_cpu_seconds() - cpu_) / count * 1e6};
    }

private:
    double cpu_ = process_cpu_seconds();
    clock::time_point start_ = clock::now();
};

inline asio::awaitable<void> repeat_pair(lock const on, int pairs) {
    for (int i = 0; i < pairs; ++i) {
        auto lease = co_await on.acquire();
        co_await lease.release();
    }
}

inline asio::awaitable<void> repeat_bare_pair(bare_lock& on, int pairs) {
    for (int i = 0; i < pairs; ++i) {
        co_await on.acquire();
        co_await on.release();
    }
}

/// What coroutines that each have a lock of their own get done, so many pairs each.
inline asio::awaitable<pair_rate> pairs_of_each(std::deque<lock> const& locks, int pairs) {
    task_group group{co_await asio::this_coro::executor};
    pair_watch const watch;
    for (auto const& one : locks) {
        group.spawn(repeat_pair(one, pairs));
    }
    co_await group.join();
    co_return watch.stop(locks.size() * static_cast<std::size_t>(pairs));
}

inline asio::awaitable<pair_rate> pairs_of_each(std::deque<bare_lock>& locks, int pairs) {
    task_group group{co_await asio::this_coro::executor};
    pair_watch const watch;
    for (auto& one : locks) {
        group.spawn(repeat_bare_pair(one, pairs));
    }
    co_await group.join();
    co_return watch.stop(locks.size() * static_cast<std::size_t>(pairs));
}

}  // namespace holdfast::bench

#endif
