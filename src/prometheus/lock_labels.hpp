#ifndef HOLDFAST_PROMETHEUS_LOCK_LABELS_HPP
#define HOLDFAST_PROMETHEUS_LOCK_LABELS_HPP

#include "prometheus/lock_values.hpp"

#include <holdfast/prometheus.hpp>

#include <functional>
#include <map>
#include <shared_mutex>
#include <string>
#include <string_view>

namespace holdfast::detail {

/// The values by the label of their lock. There are no more than `max_lock_labels`, and one for
/// all others.
class lock_labels {
public:
    /// The options outlive it.
    explicit lock_labels(prometheus_options const& options);

    /// Those of a lock of this name.
    [[nodiscard]] lock_values& of(std::string_view lock) noexcept;

    /// Calls `f(label, values)` for each label. Without `lock_label` there is one, which is empty.
    void for_each(std::function<void(std::string const&, lock_values const&)> const& f) const;

private:
    [[nodiscard]] lock_values* find(std::string_view label) noexcept;
    [[nodiscard]] lock_values& find_or_make(std::string const& label);

    prometheus_options const& options_;
    // Of all locks, or of those without a label of their own.
    lock_values others_;
    mutable std::shared_mutex mutex_;
    std::map<std::string, lock_values, std::less<>> by_label_;
};

}  // namespace holdfast::detail

#endif
