#include "core/lease_terms.hpp"

#include <algorithm>

namespace holdfast::detail {

namespace {

constexpr millis longest_automatic_timeout{3'000};

}  // namespace

time_point saturating_add(time_point from, nanos d) noexcept {
    if (d > nanos{0} && from > time_point::max() - d) {
        return time_point::max();
    }
    return from + d;
}

nanos request_timeout_for(config const& settings, millis lease) noexcept {
    if (settings.request_timeout > millis{0}) {
        return settings.request_timeout;
    }
    return std::min<nanos>(nanos{lease} / 6, longest_automatic_timeout);
}

nanos connect_timeout_of(config const& settings) noexcept {
    if (settings.connect_timeout > millis{0}) {
        return settings.connect_timeout;
    }
    return std::min<nanos>(nanos{settings.lease} / 6, longest_automatic_timeout);
}

nanos health_check_interval_of(config const& settings) noexcept {
    if (settings.health_check_interval > millis{0}) {
        return settings.health_check_interval;
    }
    return std::min<nanos>(nanos{settings.lease} / 10, millis{2'000});
}

error_code make_terms(
    config const& settings,
    acquire_options const& options,
    lease_terms& out
) noexcept {
    auto const lease =
        options.lease == nanos{0} ? settings.lease : std::chrono::floor<millis>(options.lease);
    if (lease < min_lease || lease > max_lease) {
        return errc::invalid_lease;
    }
    if (!(options.renew_at > 0.0 && options.renew_at <= 0.5)) {
        return errc::invalid_options;
    }
    if (options.max_hold < nanos{0} ||
        (options.max_hold > nanos{0} && options.max_hold < nanos{lease})) {
        return errc::invalid_options;
    }
    out.lease = lease;
    out.drift = scaled(lease, settings.drift) + millis{2};
    out.loss_margin = scaled(lease, settings.loss_margin);
    out.renew_after = scaled(lease, options.renew_at);
    out.request_timeout = request_timeout_for(settings, lease);
    out.max_hold = options.max_hold;
    out.renew = options.renew;

    // One connection that dies under a renewal must not cost the lease: the renewal's time-out, the
    // making of a new connection and the renewal on it have to fit in what is left of the lease
    // then.
    auto const connect_timeout = settings.connect_timeout > millis{0}
                                     ? nanos{settings.connect_timeout}
                                     : std::min<nanos>(nanos{lease} / 6, longest_automatic_timeout);
    auto const making_up = out.request_timeout + connect_timeout + nanos{settings.reconnect_min};
    auto const usable = nanos{lease} - out.drift - out.loss_margin;
    if (making_up >= usable) {
        return errc::invalid_lease;
    }
    if (options.renew && out.renew_after >= usable) {
        return errc::invalid_options;  // it would be lost before its first renewal
    }
    return {};
}

}  // namespace holdfast::detail
