#include "fuzz/settings.hpp"

#include "core/check_config.hpp"

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace holdfast::fuzz {

namespace {

// Often what it is by default.
std::string any_text(input& in, std::string const& usual) {
    return in.flag() ? usual : in.text(8);
}

}  // namespace

double any_part(input& in, double usual) {
    using limits = std::numeric_limits<double>;
    constexpr double limits_of_ours[] = {0.0, 0.01, 0.1, 0.5, 1.0};
    constexpr double limits_of_double[] = {
        -0.0,
        limits::denorm_min(),
        limits::infinity(),
        -limits::infinity(),
        limits::quiet_NaN(),
        limits::max(),
        limits::lowest()
    };
    switch (in.below(5)) {
        case 0: return usual;
        case 1: return in.one_of(limits_of_ours);
        case 2: return in.one_of(limits_of_double);
        case 3: return in.part();
        default: return in.real();
    }
}

config any_config(input& in) {
    config settings;
    settings.lease = any_time(in, settings.lease);
    settings.request_timeout = any_time(in, settings.request_timeout);
    settings.connect_timeout = any_time(in, settings.connect_timeout);
    settings.reconnect_min = any_time(in, settings.reconnect_min);
    settings.drift = any_part(in, settings.drift);
    settings.loss_margin = any_part(in, settings.loss_margin);
    // The rest is refused one by one: mostly left alone, so that there are configurations that
    // pass.
    if (in.flag()) {
        return settings;
    }
    settings.host = any_text(in, settings.host);
    settings.unix_socket = any_text(in, settings.unix_socket);
    settings.username = any_text(in, settings.username);
    settings.password = any_text(in, settings.password);
    settings.client_name = any_text(in, settings.client_name);
    settings.tls.enabled = in.flag();
    settings.tls.certificate_file = any_text(in, {});
    settings.tls.private_key_file = any_text(in, {});
    settings.port = in.number<std::uint16_t>();
    settings.database = in.flag() ? 0 : in.number<std::int32_t>();
    settings.key_prefix.assign(in.below(600), 'p');
    settings.health_check_interval = any_time(in, settings.health_check_interval);
    settings.reconnect_max = any_time(in, settings.reconnect_max);
    settings.fallback_poll_interval = any_time(in, settings.fallback_poll_interval);
    settings.learned_lease_min = any_time(in, settings.learned_lease_min);
    settings.fence_ttl = any_time(in, settings.fence_ttl);
    settings.shutdown_timeout = any_time(in, settings.shutdown_timeout);
    settings.max_waiters = in.number<std::uint16_t>();
    return settings;
}

acquire_options any_options(input& in) {
    acquire_options options;
    options.lease = any_time(in, options.lease.length());
    options.max_hold = any_time(in, options.max_hold);
    options.renew_at = any_part(in, options.renew_at);
    options.renew = in.flag();
    if (in.flag()) {
        options.lease = learned;
    }
    options.orphan_after = any_time(in, options.orphan_after);
    return options;
}

detail::lease_terms accepted_terms(input& in) {
    auto settings = any_config(in);
    try {
        detail::check_config(settings);
    } catch (std::invalid_argument const&) {
        settings = {};
    }
    detail::lease_terms terms;
    if (detail::make_terms(settings, any_options(in), terms)) {
        static_cast<void>(detail::make_terms({}, {}, terms));
    }
    return terms;
}

}  // namespace holdfast::fuzz
