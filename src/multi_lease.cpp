#include <holdfast/multi_lease.hpp>

#include "lease/delivery.hpp"
#include "lease/lease_group.hpp"
#include "lease/lease_handles.hpp"

#include <utility>

namespace holdfast {

multi_lease& multi_lease::operator=(multi_lease&& other) noexcept {
    if (this != &other) {
        multi_lease const old{std::exchange(group_, std::move(other.group_))};
    }
    return *this;
}

multi_lease::~multi_lease() {
    if (group_) {
        group_->abandon();
    }
}

bool multi_lease::valid() const& noexcept {
    return detail::is_valid(state());
}

lease_state multi_lease::state() const noexcept {
    return detail::used(group_) ? group_->state() : lease_state::empty;
}

loss_reason multi_lease::loss() const noexcept {
    return detail::used(group_) ? group_->loss() : loss_reason::none;
}

std::size_t multi_lease::size() const noexcept {
    return detail::used(group_) ? group_->leases().size() : 0;
}

fencing_token multi_lease::token(std::size_t member) const noexcept {
    return member < size() ? group_->leases()[member].token() : fencing_token{};
}

std::vector<fencing_token> multi_lease::tokens() const {
    std::vector<fencing_token> all;
    all.reserve(size());
    for (std::size_t i = 0; i < size(); ++i) {
        all.push_back(token(i));
    }
    return all;
}

lease_clock::time_point multi_lease::deadline() const noexcept {
    return detail::used(group_) ? group_->deadline() : lease_clock::time_point::min();
}

lease_clock::duration multi_lease::remaining() const noexcept {
    return detail::used(group_) ? detail::time_left(group_->deadline()) : lease_clock::duration{0};
}

namespace detail {

asio::any_io_executor executor_of(lease_group const* held) noexcept {
    return held ? held->executor() : executor_without_client();
}

void start_renew_all(std::shared_ptr<lease_group> held, plain_handler handler) {
    if (used(held)) {
        held->renew(std::move(handler));
    } else {
        refuse_empty(std::move(handler));
    }
}

void start_release_all(std::shared_ptr<lease_group> held, plain_handler handler) {
    if (used(held)) {
        held->release(std::move(handler));
    } else {
        refuse_empty(std::move(handler));
    }
}

void start_wait_any_lost(std::shared_ptr<lease_group> held, loss_handler handler) {
    if (used(held)) {
        held->wait_lost(std::move(handler));
    } else {
        refuse_empty(std::move(handler), loss_reason::none);
    }
}

}  // namespace detail
}  // namespace holdfast
