#ifndef HOLDFAST_BENCH_PEERS_CPP_WORKER_HPP
#define HOLDFAST_BENCH_PEERS_CPP_WORKER_HPP

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

// What the two C++ workers share. ../README.md has the protocol.
namespace holdfast::bench {

using clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC

inline std::int64_t now_ns() {
    return std::chrono::nanoseconds{clock::now().time_since_epoch()}.count();
}

inline clock::time_point instant(std::int64_t nanoseconds) {
    return clock::time_point{std::chrono::nanoseconds{nanoseconds}};
}

/// One grant, as `contend` reports it.
struct turn {
    std::int64_t called = 0;
    std::int64_t granted = 0;
    std::int64_t releasing = 0;
};

inline void say(std::string const& line) {
    std::puts(line.c_str());
    std::fflush(stdout);
}

inline void answer(std::int64_t figure) {
    say("ok " + std::to_string(figure));
}

inline void answer(std::vector<turn> const& turns) {
    for (auto const& t : turns) {
        std::printf(
            "%lld %lld %lld\n",
            static_cast<long long>(t.called),
            static_cast<long long>(t.granted),
            static_cast<long long>(t.releasing)
        );
    }
    answer(static_cast<std::int64_t>(turns.size()));
}

/// Destroys the order.
inline std::int64_t median(std::vector<std::int64_t>& values) {
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace holdfast::bench

#endif
