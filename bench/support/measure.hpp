#ifndef HOLDFAST_BENCH_SUPPORT_MEASURE_HPP
#define HOLDFAST_BENCH_SUPPORT_MEASURE_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace holdfast::bench {

/// CLOCK_MONOTONIC on Linux: two processes of one machine may compare its time points.
using clock = std::chrono::steady_clock;

[[nodiscard]] inline std::int64_t now_ns() {
    return std::chrono::nanoseconds{clock::now().time_since_epoch()}.count();
}

[[nodiscard]] inline double seconds_since(clock::time_point start) {
    return std::chrono::duration<double>{clock::now() - start}.count();
}

/// The processor time that all threads of this process have used so far.
[[nodiscard]] double process_cpu_seconds();

/// The processor time of all children that have been waited for, and of their children.
[[nodiscard]] double children_cpu_seconds();

/// The memory of this process that is in RAM, after the allocator gave back what it could.
[[nodiscard]] std::size_t resident_bytes();

/// The value below which this part of the values lies; 0 without values.
[[nodiscard]] double quantile(std::vector<double> values, double part);

[[nodiscard]] inline double median(std::vector<double> values) {
    return quantile(static_cast<std::vector<double>&&>(values), 0.5);
}

}  // namespace holdfast::bench

#endif
