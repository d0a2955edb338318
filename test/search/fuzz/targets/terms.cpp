// The times of an acquisition: any configuration and any options are accepted or refused as
// documented, nothing overflows, and what is accepted leaves room for what has to happen within a
// lease.

#include "core/check_config.hpp"
#include "core/lease_terms.hpp"
#include "fuzz/input.hpp"
#include "fuzz/settings.hpp"
#include "fuzz/targets.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <string_view>

namespace holdfast::fuzz {

namespace {

using detail::lease_terms;
using detail::millis;
using detail::nanos;
using detail::time_point;

constexpr auto day = std::chrono::hours{24};

bool within_a_day(millis value) {
    return value >= millis{0} && value <= day;
}

bool accepted(config const& settings) {
    try {
        detail::check_config(settings);
        return true;
    } catch (std::invalid_argument const& e) {
        check(
            std::string_view{e.what()}.starts_with("holdfast::config::"),
            "a refusal names the member"
        );
        return false;
    }
}

// What include/holdfast/config.hpp says of each member, the room for the time-outs excepted.
bool is_as_documented(config const& c) {
    bool const visible = std::all_of(c.client_name.begin(), c.client_name.end(), [](char one) {
        return one > ' ' && one <= '~';
    });
    bool const reachable = c.unix_socket.empty() ? !c.host.empty() && c.port != 0 : !c.tls.enabled;
    return reachable && visible && c.database >= 0 &&
           c.tls.certificate_file.empty() == c.tls.private_key_file.empty() &&
           (c.username.empty() || !c.password.empty()) && c.key_prefix.size() < 512 &&
           c.drift >= 0.0 && c.drift <= 0.1 && c.loss_margin >= 0.01 && c.loss_margin <= 0.5 &&
           c.lease >= millis{1'000} && c.lease <= day && within_a_day(c.request_timeout) &&
           within_a_day(c.connect_timeout) && within_a_day(c.health_check_interval) &&
           within_a_day(c.shutdown_timeout) && c.reconnect_min >= millis{1} &&
           c.reconnect_max >= c.reconnect_min && within_a_day(c.reconnect_max) &&
           c.fallback_poll_interval >= millis{10} && within_a_day(c.fallback_poll_interval) &&
           (c.learned_lease_min == millis{0} ||
            (c.learned_lease_min >= millis{1'000} && c.learned_lease_min <= c.lease)) &&
           (c.fence_ttl == config::never || (c.fence_ttl >= day && c.fence_ttl <= 36'525 * day)) &&
           c.max_waiters >= 1;
}

double ns(nanos t) {
    return static_cast<double>(t.count());
}

// What is left of a lease between its start and its loss: below zero where it is lost at once.
// Reckoned with fractions, as what follows: near zero it may be on either side.
double usable_ns(config const& c, nanos lease) {
    return ns(lease) * (1 - c.drift - c.loss_margin) - 2e6;
}

// How much of a lease is not needed for what a dead connection costs.
double slack_ns(config const& c, nanos lease) {
    auto const automatic = std::min(ns(lease) / 6, 3e9);
    auto const request = c.request_timeout > millis{0} ? ns(c.request_timeout) : automatic;
    auto const connect = c.connect_timeout > millis{0} ? ns(c.connect_timeout) : automatic;
    return usable_ns(c, lease) - request - connect - ns(c.reconnect_min);
}

constexpr double rounding_ns = 10;

// Whatever the server tells of the usual hold.
void check_learned(config const& settings, lease_terms const& terms) {
    auto const shortest = detail::shortest_learned_lease(settings);
    check(
        shortest >= millis{1'000} && shortest <= settings.lease,
        "the shortest learned lease is between 1 s and the lease"
    );
    for (auto const usual : {nanos{0}, nanos{1}, nanos{millis{50}}, nanos{day}, nanos::max()}) {
        auto const learned = detail::learned_terms(settings, terms, usual);
        check(
            learned.lease >= shortest && learned.lease <= settings.lease,
            "a learned lease stays within its bounds"
        );
        check(
            slack_ns(settings, learned.lease) > -rounding_ns,
            "a dead connection can be made up for within a learned lease"
        );
        auto const renewed = detail::renewed_terms(settings, learned, usual);
        check(
            renewed.lease >= learned.lease && renewed.lease <= settings.lease,
            "a hold that runs long is renewed with a longer lease"
        );
    }
}

void check_terms(config const& settings, acquire_options const& options, lease_terms const& terms) {
    check(terms.lease >= millis{1'000} && terms.lease <= day, "a lease has from 1 s to 24 h");
    check(
        options.lease.length() == nanos{0} ? terms.lease == settings.lease
                                           : terms.lease <= options.lease.length() &&
                                                 terms.lease > options.lease.length() - millis{1},
        "the lease is what was asked for, rounded down"
    );
    check(
        terms.drift >= millis{2} && terms.drift <= nanos{terms.lease} / 10 + millis{2},
        "the drift allowance is a part of the lease"
    );
    check(
        terms.loss_margin > nanos{0} && terms.loss_margin <= nanos{terms.lease} / 2,
        "the notification is a part of the lease"
    );
    check(terms.request_timeout > nanos{0}, "a request may take some time");
    auto const usable = nanos{terms.lease} - terms.drift - terms.loss_margin;
    check(usable > nanos{0}, "a fresh lease is held");
    check(
        slack_ns(settings, terms.lease) > -rounding_ns,
        "a dead connection can be made up for within a lease"
    );
    check(!terms.renew || terms.renew_after < usable, "a lease is renewed before it would be lost");
    check(
        terms.renew_after >= nanos{0} && terms.renew_after <= nanos{terms.lease} / 2,
        "a renewal is due in the first half of a lease"
    );
    check(
        terms.max_hold == options.max_hold &&
            (terms.max_hold == nanos{0} || terms.max_hold >= nanos{terms.lease}),
        "the longest hold is none or at least a lease"
    );
    check(terms.renew == options.renew, "renewal is the caller's choice");
    check(terms.learned == options.lease.is_learned(), "who works it out is the caller's choice");
    if (terms.learned) {
        check_learned(settings, terms);
    }
}

void check_options(config const& settings, acquire_options const& options) {
    lease_terms terms;
    auto const refusal = detail::make_terms(settings, options, terms);
    check(
        !refusal || refusal == errc::invalid_lease || refusal == errc::invalid_options,
        "options are refused as documented"
    );
    if (!refusal) {
        check_terms(settings, options, terms);
        return;
    }
    // Refused for a reason.
    auto const lease = options.lease.length() == nanos{0}
                           ? settings.lease
                           : std::chrono::floor<millis>(options.lease.length());
    if (lease < millis{1'000} || lease > day) {
        return;
    }
    bool const wrong_part = !(options.renew_at > 0.0 && options.renew_at <= 0.5);
    bool const wrong_hold = options.max_hold < nanos{0} ||
                            (options.max_hold > nanos{0} && options.max_hold < nanos{lease});
    auto const usable = usable_ns(settings, lease);
    bool const learns = options.lease.is_learned();
    // A short lease may have less left beside the part of the drift that does not shrink.
    bool const wrong_rest = options.orphan_after < nanos{0} || (learns && !options.renew);
    auto const shortest = learns ? nanos{detail::shortest_learned_lease(settings)} : nanos{lease};
    bool const too_late = options.renew && (ns(lease) * options.renew_at > usable - rounding_ns ||
                                            ns(shortest) * options.renew_at >
                                                usable_ns(settings, shortest) - rounding_ns);
    bool const too_short =
        slack_ns(settings, lease) < rounding_ns || slack_ns(settings, shortest) < rounding_ns;
    check(
        wrong_part || wrong_hold || wrong_rest || too_late || too_short,
        "options are not refused without a reason"
    );
}

// The times that connections are made with. All are passed on as they are, where zero would mean
// never.
void check_connection_times(config const& settings) {
    for (auto const time :
         {detail::connect_timeout_of(settings),
          detail::health_check_interval_of(settings),
          detail::request_timeout_for(settings, settings.lease)}) {
        check(time > nanos{0} && time <= nanos{day}, "a time-out is from 1 ns to a day");
    }
}

void check_sum(time_point from, nanos d) {
    auto const sum = detail::saturating_add(from, d);
    bool const fits = d <= nanos{0} || time_point::max() - from >= d;
    check(sum == (fits ? from + d : time_point::max()), "a sum of times is right, or the end");
}

}  // namespace

void terms(bytes data) {
    input in{data};
    auto settings = any_config(in);
    auto const options = any_options(in);
    // No instant of the lease clock is before its start.
    constexpr auto end_of_time = std::numeric_limits<nanos::rep>::max();
    auto const from = time_point{nanos{in.number<nanos::rep>() & end_of_time}};
    check_sum(from, any_time(in, nanos{0}));
    if (accepted(settings)) {
        check(is_as_documented(settings), "what is accepted is as documented");
        check(
            slack_ns(settings, settings.lease) > -rounding_ns,
            "a dead connection costs no lease"
        );
        check_connection_times(settings);
    } else {
        auto const shortest =
            settings.learned_lease_min > millis{0} ? settings.learned_lease_min : settings.lease;
        check(
            !is_as_documented(settings) || slack_ns(settings, settings.lease) < rounding_ns ||
                slack_ns(settings, shortest) < rounding_ns,
            "what is as documented is accepted"
        );
        settings = {};
    }
    check_options(settings, options);
}

}  // namespace holdfast::fuzz
