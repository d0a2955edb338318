#include <holdfast/lease.hpp>

#include "lease/delivery.hpp"
#include "lease/lease_handles.hpp"
#include "lease/tenure.hpp"

#include <utility>

namespace holdfast {

lease& lease::operator=(lease&& other) noexcept {
    if (this != &other) {
        lease const old{std::exchange(share_, std::move(other.share_))};
    }
    return *this;
}

lease::~lease() {
    if (share_) {
        share_->of.abandon(*share_);
    }
}

lease::operator bool() const& noexcept {
    return detail::used(share_) && !share_->released;
}

bool lease::valid() const& noexcept {
    return detail::is_valid(state());
}

lease_state lease::state() const noexcept {
    return detail::used(share_) ? share_->of.state(*share_) : lease_state::empty;
}

loss_reason lease::loss() const noexcept {
    return detail::used(share_) ? share_->of.loss(*share_) : loss_reason::none;
}

fencing_token lease::token() const noexcept {
    return detail::used(share_) ? share_->of.token() : fencing_token{};
}

lease_clock::time_point lease::deadline() const noexcept {
    return detail::used(share_) ? share_->of.deadline() : lease_clock::time_point::min();
}

lease_clock::duration lease::remaining() const noexcept {
    return detail::used(share_) ? detail::time_left(share_->of.deadline())
                                : lease_clock::duration{0};
}

namespace detail {

asio::any_io_executor executor_of(lease_share const* held) noexcept {
    return held ? held->of.over().client().executor() : executor_without_client();
}

void start_renew(std::shared_ptr<lease_share> held, plain_handler handler) {
    if (used(held)) {
        held->of.renew(held, std::move(handler));
    } else {
        refuse_empty(std::move(handler));
    }
}

void start_release(std::shared_ptr<lease_share> held, plain_handler handler) {
    if (used(held)) {
        held->of.release(held, std::move(handler));
    } else {
        refuse_empty(std::move(handler));
    }
}

void start_wait_lost(std::shared_ptr<lease_share> held, loss_handler handler) {
    if (used(held)) {
        held->of.wait_lost(held, std::move(handler));
    } else {
        refuse_empty(std::move(handler), loss_reason::none);
    }
}

}  // namespace detail
}  // namespace holdfast
