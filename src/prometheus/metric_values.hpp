#ifndef HOLDFAST_PROMETHEUS_METRIC_VALUES_HPP
#define HOLDFAST_PROMETHEUS_METRIC_VALUES_HPP

#include "prometheus/client_totals.hpp"
#include "prometheus/lock_labels.hpp"

#include <holdfast/prometheus.hpp>

#include <prometheus/metric_family.h>

#include <utility>
#include <vector>

namespace holdfast::detail {

/// @throws std::invalid_argument naming the member that is wrong.
void check_options(prometheus_options const& options);

/// What `prometheus_metrics` keeps.
class metric_values {
public:
    explicit metric_values(prometheus_options options)
        : options_{(check_options(options), std::move(options))},
          locks{options_} {}

    /// All metrics by their names.
    [[nodiscard]] std::vector<prometheus::MetricFamily> families();

private:
    prometheus_options options_;

public:
    lock_labels locks;
    client_totals clients;
};

}  // namespace holdfast::detail

#endif
