#ifndef HOLDFAST_PROMETHEUS_HPP
#define HOLDFAST_PROMETHEUS_HPP

#include <holdfast/detail/metrics_observer.hpp>
#include <holdfast/export.hpp>

#include <prometheus/collectable.h>
#include <prometheus/labels.h>
#include <prometheus/metric_family.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

/// What `prometheus_metrics` shows, and in which detail.
struct prometheus_options {
    /// Labels of every series, such as `{{"service", "shop"}}`.
    ::prometheus::Labels labels = {};
    /// Gives the value of the label `lock` for the name of a lock, which includes its prefix. By
    /// default there is no such label.
    ///
    /// Each value is a set of time series of its own, so it must not be the name of a lock where
    /// there are many: take what locks have in common, such as the part before a colon. It is
    /// called on the threads of the clients, by several at a time, and must be quick. If it throws,
    /// the value is `other`.
    std::function<std::string(std::string_view lock)> lock_label = {};
    /// The number of values that `lock_label` may give. What comes later counts as `other`.
    std::size_t max_lock_labels = 100;
    /// @{
    /// The upper bounds of the histograms' buckets in seconds, in ascending order: of the time from
    /// the start of an acquisition to its grant, from a grant to its release, and from sending a
    /// renewal to its confirmation.
    std::vector<double> wait_buckets =
        {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300
    };
    std::vector<double> hold_buckets =
        {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600};
    std::vector<double> renewal_buckets =
        {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5};
    /// @}
};

/// The metrics of a program's clients for Prometheus: an observer that is also a `Collectable` of
/// prometheus-cpp. The page "Metrics, traces and logs" lists them.
///
/// Name it in `config::observer` of each client, and register it with an `Exposer` or a `Gateway`,
/// beside your `Registry`. The counters of clients that are gone stay in the sums.
///
/// It is a part of the target `holdfast::prometheus`.
///
/// @par Thread safety   Distinct objects: safe. Shared objects: safe.
class HOLDFAST_EXPORT prometheus_metrics final : public detail::metrics_observer,
                                                 public ::prometheus::Collectable {
public:
    /// Makes metrics that are all zero.
    ///
    /// @throws std::invalid_argument naming the member of `options` that is wrong: a label that
    /// Prometheus does not allow or that a metric has already, or bounds that do not ascend.
    explicit prometheus_metrics(prometheus_options options = {});
    /// Clients and exposers share it.
    ~prometheus_metrics() override;

    /// The current values. They are read one after the other, not at one instant.
    ///
    /// @par Errors   None.
    [[nodiscard]] std::vector<::prometheus::MetricFamily> Collect() const override;
};

}  // namespace holdfast

#endif
