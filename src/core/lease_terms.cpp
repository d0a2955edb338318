#include "core/lease_terms.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace holdfast::detail {

namespace {

constexpr millis longest_automatic_timeout{3'000};

[[noreturn]] void refuse(char const* member, char const* why) {
    throw std::invalid_argument(std::string("holdfast::config::") + member + ": " + why);
}

// So that no sum of times overflows.
constexpr millis longest_time = max_lease;
constexpr millis longest_fence_ttl{std::chrono::hours{24 * 36'525}};

void check_time(millis value, char const* member) {
    if (value < millis{0} || value > longest_time) {
        refuse(member, "must be from 0 to 24 h");
    }
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

void check_config(config const& settings) {
    if (settings.unix_socket.empty() && settings.host.empty()) {
        refuse("host", "must not be empty");
    }
    if (settings.unix_socket.empty() && settings.port == 0) {
        refuse("port", "must not be 0");
    }
    if (!settings.unix_socket.empty() && settings.tls.enabled) {
        refuse("tls", "cannot be used with a UNIX socket");
    }
    if (settings.tls.certificate_file.empty() != settings.tls.private_key_file.empty()) {
        refuse(
            settings.tls.private_key_file.empty() ? "tls.private_key_file" : "tls.certificate_file",
            "is missing: a certificate is of use only with its key"
        );
    }
    if (settings.database < 0) {
        refuse("database", "must not be negative");
    }
    if (settings.password.empty() && !settings.username.empty()) {
        refuse("password", "is missing for the user name");
    }
    auto const unprintable = [](char c) { return c < '!' || c > '~'; };
    if (std::any_of(settings.client_name.begin(), settings.client_name.end(), unprintable)) {
        refuse("client_name", "must be printable ASCII without spaces");
    }
    if (settings.key_prefix.size() >= max_name_length) {
        refuse("key_prefix", "must be shorter than 512 bytes");
    }
    if (!(settings.drift >= 0.0 && settings.drift <= 0.1)) {
        refuse("drift", "must be from 0 to 0.1");
    }
    if (!(settings.notice >= 0.01 && settings.notice <= 0.5)) {
        refuse("notice", "must be from 0.01 to 0.5");
    }
    check_time(settings.request_timeout, "request_timeout");
    check_time(settings.connect_timeout, "connect_timeout");
    check_time(settings.health_check_interval, "health_check_interval");
    check_time(settings.shutdown_timeout, "shutdown_timeout");
    check_time(settings.reconnect_max, "reconnect_max");
    check_time(settings.fallback, "fallback");
    bool const expires = settings.fence_ttl != config::never;
    if (expires && (settings.fence_ttl < max_lease || settings.fence_ttl > longest_fence_ttl)) {
        refuse("fence_ttl", "must be from 24 h to 100 years, or `never`");
    }
    if (settings.reconnect_min < millis{1} || settings.reconnect_max < settings.reconnect_min) {
        refuse("reconnect_min", "must be at least 1 ms and not above reconnect_max");
    }
    if (settings.fallback < millis{10}) {
        refuse("fallback", "must be at least 10 ms");
    }
    if (settings.max_waiters == 0) {
        refuse("max_waiters", "must be at least 1");
    }
    lease_terms unused;
    if (make_terms(settings, acquire_options{}, unused)) {
        refuse(
            "lease",
            "must be from 1 s to 24 h, and long enough for the time-outs: request_timeout + "
            "connect_timeout + "
            "reconnect_min must fit between a renewal and the notice"
        );
    }
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
    out.notice = scaled(lease, settings.notice);
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
    auto const usable = nanos{lease} - out.drift - out.notice;
    if (making_up >= usable) {
        return errc::invalid_lease;
    }
    if (options.renew && out.renew_after >= usable) {
        return errc::invalid_options;  // it would be lost before its first renewal
    }
    return {};
}

}  // namespace holdfast::detail
