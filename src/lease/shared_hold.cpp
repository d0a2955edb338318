#include "lease/shared_hold.hpp"

#include "lease/tenure.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::detail {

bool shared_hold::in_use(time_point now) const {
    return std::any_of(tenures_.begin(), tenures_.end(), [now](auto const& each) {
        return each->alive(now) || now < each->deadline();
    });
}

void shared_hold::add(std::shared_ptr<tenure> one) {
    auto const* const which = one.get();
    tenures_.push_back(std::move(one));
    try {
        places_.emplace(which, tenures_.size() - 1);
    } catch (...) {
        tenures_.pop_back();
        throw;
    }
}

std::shared_ptr<tenure> shared_hold::remove(tenure const& which) noexcept {
    auto const at = places_.find(&which);
    if (at == places_.end()) {
        return {};
    }
    auto const place = at->second;
    places_.erase(at);
    auto removed = std::move(tenures_[place]);
    if (place + 1 < tenures_.size()) {
        tenures_[place] = std::move(tenures_.back());
        places_.find(tenures_[place].get())->second = place;
    }
    tenures_.pop_back();
    return removed;
}

bool shared_hold::contains(tenure const& which) const noexcept {
    return places_.contains(&which);
}

std::shared_ptr<tenure> shared_hold::any() const noexcept {
    return tenures_.empty() ? nullptr : tenures_.front();
}

}  // namespace holdfast::detail
