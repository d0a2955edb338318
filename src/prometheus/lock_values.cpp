#include "prometheus/lock_values.hpp"

#include <boost/asio/error.hpp>

namespace holdfast::detail {

namespace {

// The errors of holdfast come after the others; they begin with 1.
constexpr std::size_t before_errc = acquisition_result::error;

constexpr std::size_t of_errc(errc value) noexcept {
    return before_errc + static_cast<std::size_t>(value);
}

}  // namespace

std::size_t acquisition_result::of(error_code why) noexcept {
    if (!why) {
        return busy;
    }
    if (why == asio::error::operation_aborted) {
        return cancelled;
    }
    if (why.category() == error_category() && why.value() > 0) {
        auto const at = before_errc + static_cast<std::size_t>(why.value());
        return at < count ? at : error;
    }
    return error;
}

std::string_view acquisition_result::name(std::size_t result) noexcept {
    switch (result) {
        case granted: return "granted";
        case joined: return "joined";
        case busy: return "busy";
        case cancelled: return "cancelled";
        case error: return "error";
        default: return to_string(static_cast<errc>(result - before_errc));
    }
}

bool acquisition_result::always_shown(std::size_t result) noexcept {
    return result <= error || result == of_errc(errc::unreachable) ||
           result == of_errc(errc::server_refused) || result == of_errc(errc::too_many_waiters);
}

lock_values::lock_values(prometheus_options const& of)
    : waits{of.wait_buckets},
      holds{of.hold_buckets},
      renewals{of.renewal_buckets} {}

}  // namespace holdfast::detail
