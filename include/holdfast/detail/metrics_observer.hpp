#ifndef HOLDFAST_DETAIL_METRICS_OBSERVER_HPP
#define HOLDFAST_DETAIL_METRICS_OBSERVER_HPP

#include <holdfast/error.hpp>
#include <holdfast/export.hpp>
#include <holdfast/lease_state.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/stats_source.hpp>

#include <chrono>
#include <memory>

namespace holdfast::detail {

class metric_values;

/// The part of `prometheus_metrics` that is told what happens.
class HOLDFAST_EXPORT metrics_observer : public observer {
public:
    ~metrics_observer() override;

protected:
    explicit metrics_observer(std::unique_ptr<metric_values> values) noexcept;
    [[nodiscard]] metric_values& values() const noexcept { return *values_; }

private:
    void on_client(stats_source const& of) noexcept override;
    void on_grant(acquisition const& what, grant const& of) noexcept override;
    void on_no_grant(
        acquisition const& what,
        error_code why,
        std::chrono::nanoseconds waited
    ) noexcept override;
    void on_renewal(held_lock const& what, std::chrono::nanoseconds took) noexcept override;
    void on_doubt(held_lock const& what) noexcept override;
    void on_loss(held_lock const& what, loss_reason why) noexcept override;
    void on_release(held_lock const& what, std::chrono::nanoseconds held_for) noexcept override;

    std::unique_ptr<metric_values> values_;
};

}  // namespace holdfast::detail

#endif
