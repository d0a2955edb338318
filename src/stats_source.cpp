#include <holdfast/stats_source.hpp>

#include "runtime/counters.hpp"

#include <atomic>
#include <utility>

namespace holdfast {

stats_source::stats_source(
    std::shared_ptr<detail::counters const> values,
    std::weak_ptr<detail::counters const> used
) noexcept
    : values_{std::move(values)},
      used_{std::move(used)} {}

stats stats_source::stats() const noexcept {
    return values_->snapshot();
}

bool stats_source::ended() const noexcept {
    if (!used_.expired()) {
        return false;
    }
    // What was counted before the last user let go is seen after this.
    std::atomic_thread_fence(std::memory_order_acquire);
    return true;
}

}  // namespace holdfast
