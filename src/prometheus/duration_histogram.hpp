#ifndef HOLDFAST_PROMETHEUS_DURATION_HISTOGRAM_HPP
#define HOLDFAST_PROMETHEUS_DURATION_HISTOGRAM_HPP

#include <prometheus/client_metric.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

namespace holdfast::detail {

/// Counts durations by buckets. Any number of threads may observe and read it, without a lock.
class duration_histogram {
public:
    /// The bounds are in seconds, ascend, and outlive it.
    explicit duration_histogram(std::vector<double> const& bounds);

    void observe(std::chrono::nanoseconds duration) noexcept;

    /// The number of samples is that of the buckets, whatever is observed meanwhile; the sum may
    /// have one more or less.
    [[nodiscard]] prometheus::ClientMetric::Histogram read() const;

private:
    std::vector<double> const& bounds_;
    // The last one has what exceeds all bounds.
    std::vector<std::atomic<std::uint64_t>> counts_;
    std::atomic<double> sum_{0.0};
};

}  // namespace holdfast::detail

#endif
