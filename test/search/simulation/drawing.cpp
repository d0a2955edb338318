// What programs write: settings of clients and options of acquisitions.

#include "simulation/drawing.hpp"

#include "core/lease_terms.hpp"

#include <algorithm>

namespace holdfast::sim {

using namespace std::chrono_literals;

void draw_settings(random_source& dice, config& settings) {
    // Clocks differ by less than the smallest drift.
    settings.drift = dice.one_of({0.01, 0.01, 0.01, 0.02, 0.05});
    settings.loss_margin = dice.one_of({0.1, 0.1, 0.1, 0.01, 0.03, 0.25});
    settings.request_timeout = dice.one_of({0ms, 0ms, 0ms, 100ms, 250ms});
    settings.connect_timeout = dice.one_of({0ms, 0ms, 0ms, 100ms, 250ms});
    settings.health_check_interval = dice.one_of({0ms, 0ms, 0ms, 100ms, 2'000ms});
    settings.reconnect_min = dice.one_of({50ms, 50ms, 1ms, 150ms});
    settings.reconnect_max = dice.one_of({200ms, 2'000ms});
    settings.fence_ttl = dice.one_of<std::chrono::milliseconds>(
        {std::chrono::hours{24 * 30}, std::chrono::hours{24}, config::never}
    );
    settings.max_waiters = dice.chance(85) ? 100'000 : 1 + dice.below(3);
    settings.shutdown_timeout = dice.one_of({5'000ms, 5'000ms, 200ms, 0ms});
    settings.confirm_grants = dice.chance(10);
}

acquire_options draw_options(random_source& dice, config const& settings) {
    acquire_options options;
    options.renew = !dice.chance(15);
    if (options.renew && dice.chance(20)) {
        options.lease = learned;
    } else if (dice.chance(30)) {
        // Beside longer ones, or shorter ones, of the same client.
        options.lease = dice.chance(50) ? 1s : dice.any_scale(1s, settings.lease + 1ms);
    }
    if (dice.chance(10)) {
        options.renew_at = 0.05 + 0.45 * dice.part();
    }
    if (dice.chance(12)) {
        auto const least = options.lease.length() == 0ns ? settings.lease : options.lease.length();
        options.max_hold = least + dice.time(0ns, least);
    }
    if (dice.chance(10)) {
        options.max_renewals = static_cast<std::uint32_t>(dice.below(4));
    }
    if (dice.chance(40)) {
        options.orphan_after = dice.any_scale(50ms, 2 * std::chrono::nanoseconds{settings.lease});
    }
    detail::lease_terms unused;
    if (detail::make_terms(settings, options, unused)) {
        // These timeouts need a longer lease, or an earlier renewal.
        options.renew_at = 1.0 / 3.0;
        options.lease = {};
        options.max_hold = {};
    }
    return options;
}

std::pair<acquire_options, errc> draw_wrong_options(random_source& dice) {
    acquire_options options;
    switch (dice.below(7)) {
        case 0: options.lease = 999ms; return {options, errc::invalid_lease};
        case 1: options.lease = 24h + 1ms; return {options, errc::invalid_lease};
        case 2: options.renew_at = 0; break;
        case 3: options.renew_at = 0.51; break;
        case 4: options.max_hold = dice.one_of({-1ms, 999ms}); break;
        case 5: options.orphan_after = -1ns; break;
        default:
            options.lease = learned;
            options.renew = false;
            break;
    }
    return {options, errc::invalid_options};
}

std::optional<std::chrono::nanoseconds> length_of(
    config const& settings,
    acquire_options const& options
) {
    if (options.lease.is_learned()) {
        return std::nullopt;
    }
    auto const asked = std::chrono::floor<std::chrono::milliseconds>(options.lease.length());
    return asked == 0ms ? settings.lease : asked;
}

}  // namespace holdfast::sim
