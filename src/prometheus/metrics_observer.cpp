#include <holdfast/detail/metrics_observer.hpp>

#include "prometheus/metric_values.hpp"

#include <atomic>
#include <cstddef>
#include <utility>

namespace holdfast::detail {

namespace {

// Counting needs no order among threads, only that nothing is lost.
void count(lock_values::number& what) noexcept {
    what.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

metrics_observer::metrics_observer(std::unique_ptr<metric_values> values) noexcept
    : values_{std::move(values)} {}

metrics_observer::~metrics_observer() = default;

void metrics_observer::on_client(stats_source const& of) noexcept {
    try {
        values_->clients.add(of);
    } catch (...) {
        // An observer must not throw. Its leases are counted all the same.
    }
}

void metrics_observer::on_grant(acquisition const& what, grant const& of) noexcept {
    auto& all = values_->locks.of(what.lock);
    if (of.kind == grant_kind::joined) {
        count(all.acquisitions[acquisition_result::joined]);
        return;
    }
    count(all.acquisitions[acquisition_result::granted]);
    all.waits.observe(of.waited);
}

void metrics_observer::on_no_grant(
    acquisition const& what,
    error_code why,
    std::chrono::nanoseconds
) noexcept {
    count(values_->locks.of(what.lock).acquisitions[acquisition_result::of(why)]);
}

void metrics_observer::on_renewal(held_lock const& what, std::chrono::nanoseconds took) noexcept {
    values_->locks.of(what.lock).renewals.observe(took);
}

void metrics_observer::on_doubt(held_lock const& what) noexcept {
    count(values_->locks.of(what.lock).doubts);
}

void metrics_observer::on_loss(held_lock const& what, loss_reason why) noexcept {
    auto& losses = values_->locks.of(what.lock).losses;
    auto const at = static_cast<std::size_t>(why);
    if (at < losses.size()) {
        count(losses[at]);
    }
}

void metrics_observer::on_release(
    held_lock const& what,
    std::chrono::nanoseconds held_for
) noexcept {
    values_->locks.of(what.lock).holds.observe(held_for);
}

}  // namespace holdfast::detail
