#include <holdfast/quorum_lease.hpp>

#include "lease/delivery.hpp"
#include "lease/lease_group.hpp"
#include "lease/lease_handles.hpp"

#include <utility>

namespace holdfast {

quorum_lease::quorum_lease(quorum_lease&& other) noexcept
    : group_{std::move(other.group_)},
      token_{std::exchange(other.token_, {})} {}

quorum_lease& quorum_lease::operator=(quorum_lease&& other) noexcept {
    if (this != &other) {
        quorum_lease const old{std::exchange(group_, std::move(other.group_)), token_};
        token_ = std::exchange(other.token_, {});
    }
    return *this;
}

quorum_lease::~quorum_lease() {
    if (group_) {
        group_->abandon();
    }
}

bool quorum_lease::valid() const& noexcept {
    return detail::is_valid(state());
}

lease_state quorum_lease::state() const noexcept {
    return detail::used(group_) ? group_->state() : lease_state::empty;
}

loss_reason quorum_lease::loss() const noexcept {
    return detail::used(group_) ? group_->loss() : loss_reason::none;
}

fencing_token quorum_lease::token() const noexcept {
    static_cast<void>(detail::used(group_));
    return token_;
}

std::size_t quorum_lease::nodes() const noexcept {
    return detail::used(group_) ? group_->standing() : 0;
}

lease_clock::time_point quorum_lease::deadline() const noexcept {
    return detail::used(group_) ? group_->deadline() : lease_clock::time_point::min();
}

lease_clock::duration quorum_lease::remaining() const noexcept {
    return detail::used(group_) ? detail::time_left(group_->deadline()) : lease_clock::duration{0};
}

}  // namespace holdfast
