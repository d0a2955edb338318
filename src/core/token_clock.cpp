#include "core/token_clock.hpp"

#include <algorithm>
#include <chrono>

namespace holdfast::detail {

namespace {

constexpr std::uint64_t greatest = (std::uint64_t{1} << 53) - 1;

std::uint64_t microseconds_of(nanos time) noexcept {
    using std::chrono::microseconds;
    return static_cast<std::uint64_t>(
        std::max(std::chrono::duration_cast<microseconds>(time), microseconds{0}).count()
    );
}

}  // namespace

void token_clock::on_keys_added(time_point now) noexcept {
    seen_.reset();
    keys_added_at_ = now;
}

void token_clock::on_taken(fencing_token token, time_point sent_at, time_point at) noexcept {
    if (sent_at <= keys_added_at_) {
        return;
    }
    if (!seen_) {
        seen_ = {token.value, token.value, at, at};
        return;
    }
    if (token.value > time_at(at)) {
        seen_->newest = token.value;
        seen_->at = at;
    }
    seen_->heard_at = std::max(seen_->heard_at, at);
}

fencing_token token_clock::floor(time_point now) const noexcept {
    if (!seen_ || now - seen_->heard_at > trusted_for) {
        return {greatest};
    }
    auto const a_moment_ago = time_at(now) - std::min(microseconds_of(moment), time_at(now));
    return {std::min(std::max(a_moment_ago, seen_->first), greatest)};
}

std::uint64_t token_clock::time_at(time_point at) const noexcept {
    return seen_->newest + microseconds_of(at - seen_->at);
}

}  // namespace holdfast::detail
