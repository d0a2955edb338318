#include <holdfast/lease.hpp>

#include "ops/grant.hpp"

#include <algorithm>
#include <utility>

namespace holdfast {

lease& lease::operator=(lease&& other) noexcept {
    if (this != &other) {
        lease const old{std::exchange(grant_, std::move(other.grant_))};
    }
    return *this;
}

lease::~lease() {
    if (grant_) {
        grant_->abandon();
    }
}

bool lease::valid() const noexcept {
    auto const now = state();
    return now == lease_state::held || now == lease_state::in_doubt;
}

lease_state lease::state() const noexcept {
    return grant_ ? grant_->state() : lease_state::empty;
}

loss_reason lease::loss() const noexcept {
    return grant_ ? grant_->loss() : loss_reason::none;
}

fencing_token lease::token() const noexcept {
    return grant_ ? grant_->token() : fencing_token{};
}

lease_clock::time_point lease::deadline() const noexcept {
    return grant_ ? grant_->deadline() : lease_clock::time_point::min();
}

lease_clock::duration lease::remaining() const noexcept {
    if (!grant_) {
        return lease_clock::duration{0};
    }
    // In this order: a renewal in between must not make it longer than it ever was.
    auto const end = grant_->deadline();
    return std::max(end - lease_clock::now(), lease_clock::duration{0});
}

namespace detail {

void start_renew(std::shared_ptr<grant> held, plain_handler handler) {
    if (held) {
        held->renew(std::move(handler));
    } else {
        pending_handler<error_code>{std::move(handler), executor_of(nullptr)}.complete(
            errc::not_held
        );
    }
}

void start_release(std::shared_ptr<grant> held, plain_handler handler) {
    if (held) {
        held->release(std::move(handler));
    } else {
        pending_handler<error_code>{std::move(handler), executor_of(nullptr)}.complete(
            errc::not_held
        );
    }
}

void start_wait_lost(std::shared_ptr<grant> held, loss_handler handler) {
    if (held) {
        held->wait_lost(std::move(handler));
    } else {
        pending_handler<error_code, loss_reason>{std::move(handler), executor_of(nullptr)}.complete(
            errc::not_held,
            loss_reason::none
        );
    }
}

}  // namespace detail
}  // namespace holdfast
