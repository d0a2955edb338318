#include "lease/shared_hold.hpp"

#include "lease/tenure.hpp"

#include <cstdint>
#include <utility>

namespace holdfast::detail {

void shared_hold::add(std::shared_ptr<tenure> one) {
    one->place_in_hold_ = static_cast<std::uint32_t>(tenures_.size());
    tenures_.push_back(std::move(one));
}

std::shared_ptr<tenure> shared_hold::remove(tenure const& which) noexcept {
    if (!contains(which)) {
        return {};
    }
    auto const place = which.place_in_hold_;
    auto removed = std::move(tenures_[place]);
    if (place + 1 < tenures_.size()) {
        tenures_[place] = std::move(tenures_.back());
        tenures_[place]->place_in_hold_ = place;
    }
    tenures_.pop_back();
    return removed;
}

bool shared_hold::contains(tenure const& which) const noexcept {
    auto const place = which.place_in_hold_;
    return place < tenures_.size() && tenures_[place].get() == &which;
}

std::shared_ptr<tenure> shared_hold::any() const noexcept {
    return tenures_.empty() ? nullptr : tenures_.front();
}

}  // namespace holdfast::detail
