#include "core/lease_terms.hpp"

#include <algorithm>
#include <cmath>

namespace holdfast::detail {

namespace {

constexpr millis longest_automatic_timeout{3'000};
constexpr millis usual_learned_lease_min{5'000};

// By this much a clock may be wrong that runs at the right speed.
constexpr millis clock_error{2};

nanos usable(lease_terms const& terms) {
    return nanos{terms.lease} - terms.drift - terms.loss_margin;
}

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

nanos replication_timeout_for(config const& settings, nanos request_timeout) noexcept {
    return settings.replicas.timeout > millis{0} ? nanos{settings.replicas.timeout}
                                                 : request_timeout;
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

namespace {

nanos replication_timeout(config const& settings, lease_terms const& terms) {
    return settings.replicas.count == 0 ? nanos{0}
                                        : replication_timeout_for(settings, terms.request_timeout);
}

// A lost connection can be made up for within the lease: the time-out of a renewal, the making of a
// new connection and the renewal on it fit in what is left of the lease then.
bool survives_a_connection(config const& settings, lease_terms const& terms) {
    auto const connect_timeout =
        settings.connect_timeout > millis{0}
            ? nanos{settings.connect_timeout}
            : std::min<nanos>(nanos{terms.lease} / 6, longest_automatic_timeout);
    auto const making_up = terms.request_timeout + connect_timeout + nanos{settings.reconnect_min} +
                           replication_timeout(settings, terms);
    return making_up < usable(terms);
}

double renewals_in_a_lease(lease_terms const& of) {
    constexpr double most = 1e6;
    auto const renewals =
        static_cast<double>(nanos{of.lease}.count()) / static_cast<double>(of.renew_after.count());
    return std::min(renewals, most);
}

lease_terms terms_of(config const& settings, millis lease, double renew_at) {
    lease_terms made;
    made.lease = lease;
    made.drift = scaled(lease, settings.drift) + clock_error;
    made.loss_margin = scaled(lease, settings.loss_margin);
    made.renew_after = scaled(lease, renew_at);
    made.request_timeout = request_timeout_for(settings, lease);
    return made;
}

}  // namespace

millis lease_for(config const& settings, nanos time) noexcept {
    return std::chrono::ceil<millis>(scaled(time + clock_error, 1 / (1 - settings.drift)));
}

lease_terms terms_with(config const& settings, lease_terms const& of, millis lease) noexcept {
    auto const renew_at =
        static_cast<double>(of.renew_after.count()) / static_cast<double>(nanos{of.lease}.count());
    auto made = terms_of(settings, lease, renew_at).limited_as(of);
    made.learned = of.learned;
    made.renew_within = of.renew_within;
    return made;
}

millis shortest_learned_lease(config const& settings) noexcept {
    if (settings.learned_lease_min > millis{0}) {
        return std::min(settings.learned_lease_min, settings.lease);
    }
    auto shortest = usual_learned_lease_min;
    while (shortest < settings.lease &&
           !survives_a_connection(settings, terms_of(settings, shortest, 0.5))) {
        shortest += std::chrono::seconds{1};
    }
    return std::min(shortest, settings.lease);
}

std::int64_t usual_holds_in_a_lease(lease_terms const& of) noexcept {
    // A little less, because a time was rounded down.
    return static_cast<std::int64_t>(std::ceil(2 * renewals_in_a_lease(of) - 1e-6));
}

lease_terms learned_terms(
    config const& settings,
    lease_terms const& of,
    nanos usual_hold
) noexcept {
    if (usual_hold <= nanos{0}) {
        return terms_with(settings, of, settings.lease);
    }
    auto const longest_hold = nanos{settings.lease} / usual_holds_in_a_lease(of);
    auto const wanted =
        std::chrono::ceil<millis>(std::min(usual_hold, longest_hold) * usual_holds_in_a_lease(of));
    return terms_with(
        settings,
        of,
        std::clamp(wanted, shortest_learned_lease(settings), settings.lease)
    );
}

lease_terms renewed_terms(config const& settings, lease_terms const& of, nanos held) noexcept {
    if (!of.learned || of.lease >= settings.lease) {
        return of;
    }
    auto const renewals = renewals_in_a_lease(of);
    auto const longest = scaled(settings.lease, 1 / renewals);
    auto const wanted = scaled(std::min(held, longest), renewals);
    auto const lease = std::clamp(std::chrono::floor<millis>(wanted), of.lease, settings.lease);
    return lease == of.lease ? of : terms_with(settings, of, lease);
}

error_code make_terms(
    config const& settings,
    acquire_options const& options,
    lease_terms& out
) noexcept {
    auto const lease = options.lease.length() == nanos{0}
                           ? settings.lease
                           : std::chrono::floor<millis>(options.lease.length());
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
    if (options.orphan_after < nanos{0} || (options.lease.is_learned() && !options.renew)) {
        return errc::invalid_options;
    }
    out = terms_of(settings, lease, options.renew_at);
    out.max_hold = options.max_hold;
    out.renew = options.renew;
    out.learned = options.lease.is_learned();
    out.max_renewals = options.max_renewals.value_or(lease_terms::no_limit);

    auto shortest = out;
    if (out.learned) {
        shortest = terms_of(settings, shortest_learned_lease(settings), options.renew_at);
    }
    for (auto const& each : {shortest, out}) {
        if (!survives_a_connection(settings, each)) {
            return errc::invalid_lease;
        }
        if (options.renew && each.renew_after >= usable(each)) {
            return errc::invalid_options;  // it would be lost before its first renewal
        }
    }
    return {};
}

}  // namespace holdfast::detail
