#ifndef HOLDFAST_PROMETHEUS_LOCK_VALUES_HPP
#define HOLDFAST_PROMETHEUS_LOCK_VALUES_HPP

#include "prometheus/duration_histogram.hpp"

#include <holdfast/error.hpp>
#include <holdfast/lease_state.hpp>
#include <holdfast/prometheus.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::detail {

/// How an acquisition ended, as the label `result` says it: an index of
/// `lock_values::acquisitions`.
class acquisition_result {
public:
    static constexpr std::size_t count = 64;

    static constexpr std::size_t granted = 0;
    static constexpr std::size_t joined = 1;
    static constexpr std::size_t busy = 2;
    static constexpr std::size_t cancelled = 3;
    /// An error that is none of holdfast's.
    static constexpr std::size_t error = 4;

    [[nodiscard]] static std::size_t of(error_code why) noexcept;
    [[nodiscard]] static std::string_view name(std::size_t result) noexcept;
    /// Whether the series is there before the first one ended so. A series that appears with its
    /// first event shows no increase.
    [[nodiscard]] static bool always_shown(std::size_t result) noexcept;
};

/// What is counted for each value of the label `lock`.
struct lock_values {
    using number = std::atomic<std::uint64_t>;

    explicit lock_values(prometheus_options const& of);

    duration_histogram waits;
    duration_histogram holds;
    duration_histogram renewals;
    std::array<number, acquisition_result::count> acquisitions{};
    // By `loss_reason`.
    std::array<number, 16> losses{};
    number doubts{0};
};

}  // namespace holdfast::detail

#endif
