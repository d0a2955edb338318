#include "prometheus/duration_histogram.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace holdfast::detail {

duration_histogram::duration_histogram(std::vector<double> const& bounds)
    : bounds_{bounds},
      counts_(bounds.size() + 1) {}

void duration_histogram::observe(std::chrono::nanoseconds duration) noexcept {
    auto const seconds = std::chrono::duration<double>{duration}.count();
    // A bound is part of its bucket: `le`.
    auto const at = std::ranges::lower_bound(bounds_, seconds) - bounds_.begin();
    counts_[static_cast<std::size_t>(at)].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(seconds, std::memory_order_relaxed);
}

prometheus::ClientMetric::Histogram duration_histogram::read() const {
    prometheus::ClientMetric::Histogram result;
    result.sample_sum = sum_.load(std::memory_order_relaxed);
    result.bucket.reserve(counts_.size());
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        result.sample_count += counts_[i].load(std::memory_order_relaxed);
        bool const last = i == bounds_.size();
        result.bucket.push_back(
            {result.sample_count, last ? std::numeric_limits<double>::infinity() : bounds_[i]}
        );
    }
    return result;
}

}  // namespace holdfast::detail
