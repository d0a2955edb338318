#include "lease/shared_hold.hpp"

#include "lease/tenure.hpp"

#include <algorithm>

namespace holdfast::detail {

bool shared_hold::in_use(time_point now) const {
    return std::any_of(tenures_.begin(), tenures_.end(), [now](auto const& each) {
        return each.second->alive(now) || now < each.second->deadline();
    });
}

void shared_hold::add(std::shared_ptr<tenure> one) {
    auto const* const which = one.get();
    tenures_.emplace(which, std::move(one));
}

std::shared_ptr<tenure> shared_hold::remove(tenure const& which) noexcept {
    auto const at = tenures_.find(&which);
    if (at == tenures_.end()) {
        return {};
    }
    auto removed = std::move(at->second);
    tenures_.erase(at);
    return removed;
}

bool shared_hold::contains(tenure const& which) const noexcept {
    return tenures_.contains(&which);
}

std::shared_ptr<tenure> shared_hold::any() const noexcept {
    return tenures_.empty() ? nullptr : tenures_.begin()->second;
}

}  // namespace holdfast::detail
