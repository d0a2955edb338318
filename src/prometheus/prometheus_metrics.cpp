#include "prometheus/metric_values.hpp"

#include <holdfast/prometheus.hpp>

#include <memory>
#include <utility>

namespace holdfast {

prometheus_metrics::prometheus_metrics(prometheus_options options)
    : metrics_observer{std::make_unique<detail::metric_values>(std::move(options))} {}

prometheus_metrics::~prometheus_metrics() = default;

std::vector<::prometheus::MetricFamily> prometheus_metrics::Collect() const {
    return values().families();
}

}  // namespace holdfast
