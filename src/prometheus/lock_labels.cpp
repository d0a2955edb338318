#include "prometheus/lock_labels.hpp"

#include <mutex>

namespace holdfast::detail {

namespace {

constexpr auto other = "other";

}  // namespace

lock_labels::lock_labels(prometheus_options const& options) : options_{options}, others_{options} {}

lock_values& lock_labels::of(std::string_view lock) noexcept {
    if (!options_.lock_label) {
        return others_;
    }
    try {
        auto const label = options_.lock_label(lock);
        if (auto* const known = find(label)) {
            return *known;
        }
        return find_or_make(label);
    } catch (...) {
        return others_;
    }
}

lock_values* lock_labels::find(std::string_view label) noexcept {
    std::shared_lock const guard{mutex_};
    auto const found = by_label_.find(label);
    if (found != by_label_.end()) {
        return &found->second;
    }
    bool const full = by_label_.size() >= options_.max_lock_labels;
    return full || label == other ? &others_ : nullptr;
}

lock_values& lock_labels::find_or_make(std::string const& label) {
    std::unique_lock const guard{mutex_};
    auto const found = by_label_.find(label);
    if (found == by_label_.end() && by_label_.size() >= options_.max_lock_labels) {
        return others_;
    }
    return by_label_.try_emplace(found, label, options_)->second;
}

void lock_labels::for_each(std::function<void(std::string const&, lock_values const&)> const& f
) const {
    std::shared_lock const guard{mutex_};
    for (auto const& [label, values] : by_label_) {
        f(label, values);
    }
    f(options_.lock_label ? other : "", others_);
}

}  // namespace holdfast::detail
