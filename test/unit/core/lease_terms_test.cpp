// The times of an acquisition worked out from configuration and options, and what is refused: never
// a time that overflows, never a lease that one dead connection would cost.

#include "core/lease_terms.hpp"

#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;
using holdfast::acquire_options;
using holdfast::config;
using holdfast::errc;
using holdfast::error_code;
using holdfast::detail::check_config;
using holdfast::detail::lease_terms;
using holdfast::detail::make_terms;
using holdfast::detail::millis;
using holdfast::detail::nanos;
using holdfast::detail::saturating_add;
using holdfast::detail::time_point;

namespace {

// The times that matter here.
struct times {
    millis lease{30'000};
    millis request_timeout{0};
    millis connect_timeout{0};
    millis reconnect_min{50};
};

config config_of(times const& chosen) {
    config settings;
    settings.lease = chosen.lease;
    settings.request_timeout = chosen.request_timeout;
    settings.connect_timeout = chosen.connect_timeout;
    settings.reconnect_min = chosen.reconnect_min;
    return settings;
}

config counters_kept(millis ttl) {
    config settings;
    settings.fence_ttl = ttl;
    return settings;
}

error_code terms_of(acquire_options const& options, times const& settings = {}) {
    lease_terms unused;
    return make_terms(config_of(settings), options, unused);
}

bool names_part(std::invalid_argument const& error, std::string_view part) {
    return std::string_view{error.what()}.find(part) != std::string_view::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lease_terms_test)

BOOST_AUTO_TEST_CASE(the_defaults_are_those_of_the_documentation) {
    lease_terms terms;
    BOOST_TEST(!make_terms(config{}, acquire_options{}, terms));
    BOOST_TEST((terms.lease == 30s));
    BOOST_TEST((terms.drift == 302ms));
    BOOST_TEST((terms.notice == 3s));
    BOOST_TEST(std::abs((terms.renew_after - nanos{10s}).count()) <= 1);
    BOOST_TEST((terms.request_timeout == 3s));
    BOOST_TEST((terms.max_hold == 0s));
    BOOST_TEST(terms.renew);
    BOOST_TEST((holdfast::detail::connect_timeout_of({}) == 3s));
    BOOST_TEST((holdfast::detail::health_check_interval_of({}) == 2s));
}

BOOST_AUTO_TEST_CASE(the_automatic_times_follow_the_lease) {
    lease_terms terms;
    BOOST_TEST(!make_terms(config{}, acquire_options{.lease = 6s}, terms));
    BOOST_TEST((terms.lease == 6s));
    BOOST_TEST((terms.request_timeout == 1s));
    BOOST_TEST((terms.notice == 600ms));
    auto const short_leases = config_of({.lease = 6s});
    BOOST_TEST((holdfast::detail::connect_timeout_of(short_leases) == 1s));
    BOOST_TEST((holdfast::detail::health_check_interval_of(short_leases) == 600ms));
}

BOOST_AUTO_TEST_CASE(a_lease_that_ends_before_its_first_renewal_is_refused) {
    lease_terms terms;
    config late;
    late.notice = 0.5;
    BOOST_TEST(!make_terms(late, acquire_options{}, terms));
    BOOST_TEST((make_terms(late, acquire_options{.renew_at = 0.5}, terms) == errc::invalid_options)
    );
    BOOST_TEST(!make_terms(late, acquire_options{.renew = false, .renew_at = 0.5}, terms));
}

BOOST_AUTO_TEST_CASE(every_lease_from_one_second_to_a_day_works_with_the_defaults) {
    for (nanos const lease :
         {nanos{1s}, nanos{1'001ms}, nanos{2s}, nanos{30s}, nanos{1h}, nanos{24h}}) {
        BOOST_TEST(!terms_of({.lease = lease}));
        BOOST_CHECK_NO_THROW(
            check_config(config_of({.lease = std::chrono::duration_cast<millis>(lease)}))
        );
    }
}

BOOST_AUTO_TEST_CASE(a_lease_out_of_range_is_refused) {
    for (nanos const lease :
         {nanos{-1},
          nanos{-30s},
          nanos{1},
          nanos{999'999},
          nanos{1ms},
          nanos{1s} - 1ns,
          nanos{24h} + 1ms,
          nanos::max(),
          nanos::min()}) {
        BOOST_TEST(terms_of({.lease = lease}) == errc::invalid_lease);
    }
}

BOOST_AUTO_TEST_CASE(a_lease_is_rounded_down_to_milliseconds) {
    lease_terms terms;
    BOOST_TEST(!make_terms(config{}, acquire_options{.lease = 2s - 1ns}, terms));
    BOOST_TEST((terms.lease == 1'999ms));
    BOOST_TEST(!make_terms(config{}, acquire_options{.lease = nanos{24h} + 999us}, terms));
    BOOST_TEST((terms.lease == 24h));
}

BOOST_AUTO_TEST_CASE(options_out_of_range_are_refused) {
    for (double const part :
         {0.0,
          -0.1,
          0.51,
          1.0,
          std::numeric_limits<double>::quiet_NaN(),
          std::numeric_limits<double>::infinity()}) {
        BOOST_TEST(terms_of({.renew_at = part}) == errc::invalid_options);
    }
    BOOST_TEST(!terms_of({.renew_at = 0.5}));
    BOOST_TEST(terms_of({.max_hold = -1ns}) == errc::invalid_options);
    BOOST_TEST(terms_of({.max_hold = 29s}) == errc::invalid_options);
    BOOST_TEST(!terms_of({.max_hold = 30s}));
    BOOST_TEST(!terms_of({.max_hold = nanos::max()}));
}

BOOST_AUTO_TEST_CASE(a_lease_too_short_to_make_up_for_a_dead_connection_is_refused) {
    // lease - drift - notice = 888 ms.
    BOOST_TEST(!terms_of({.lease = 1s}, {.request_timeout = 400ms, .connect_timeout = 400ms}));
    BOOST_TEST(
        terms_of({.lease = 1s}, {.request_timeout = 400ms, .connect_timeout = 440ms}) ==
        errc::invalid_lease
    );
    BOOST_TEST(
        terms_of({.lease = 1s}, {.request_timeout = 100ms, .connect_timeout = 800ms}) ==
        errc::invalid_lease
    );
    BOOST_TEST(terms_of({.lease = 1s}, {.reconnect_min = 600ms}) == errc::invalid_lease);
    BOOST_TEST(terms_of({.lease = 15s}, {.connect_timeout = 20s}) == errc::invalid_lease);
    BOOST_TEST(!terms_of({.lease = 30s}, {.connect_timeout = 20s}));
}

BOOST_AUTO_TEST_CASE(a_configuration_whose_own_lease_is_too_short_is_refused) {
    BOOST_CHECK_EXCEPTION(
        check_config(config_of({.lease = 15s, .connect_timeout = 20s})),
        std::invalid_argument,
        [](auto const& e) { return names_part(e, "lease"); }
    );
}

BOOST_AUTO_TEST_CASE(a_wrong_configuration_is_refused_by_the_name_of_the_member) {
    constexpr auto too_long = millis::max();
    struct {
        std::string member;
        std::function<void(config&)> spoil;
    } const table[] = {
        {"host", [](config& c) { c.host.clear(); }},
        {"port", [](config& c) { c.port = 0; }},
        {"tls",
         [](config& c) {
             c.unix_socket = "/s";
             c.tls.enabled = true;
         }},
        {"tls.private_key_file", [](config& c) { c.tls.certificate_file = "me.pem"; }},
        {"tls.certificate_file", [](config& c) { c.tls.private_key_file = "me.key"; }},
        {"database", [](config& c) { c.database = -1; }},
        {"password", [](config& c) { c.username = "alice"; }},
        {"client_name", [](config& c) { c.client_name = "two words"; }},
        {"client_name", [](config& c) { c.client_name = "line\nbreak"; }},
        {"client_name", [](config& c) { c.client_name = "caf\xc3\xa9"; }},
        {"key_prefix", [](config& c) { c.key_prefix.assign(512, 'p'); }},
        {"drift", [](config& c) { c.drift = -0.01; }},
        {"drift", [](config& c) { c.drift = 0.11; }},
        {"drift", [](config& c) { c.drift = std::numeric_limits<double>::quiet_NaN(); }},
        {"notice", [](config& c) { c.notice = 0.0; }},
        {"notice", [](config& c) { c.notice = 0.51; }},
        {"notice", [](config& c) { c.notice = std::numeric_limits<double>::quiet_NaN(); }},
        {"lease", [](config& c) { c.lease = 0ms; }},
        {"lease", [](config& c) { c.lease = -1ms; }},
        {"lease", [](config& c) { c.lease = 999ms; }},
        {"lease", [](config& c) { c.lease = 24h + 1ms; }},
        {"lease", [=](config& c) { c.lease = too_long; }},
        {"request_timeout", [](config& c) { c.request_timeout = -1ms; }},
        {"request_timeout", [=](config& c) { c.request_timeout = too_long; }},
        {"connect_timeout", [](config& c) { c.connect_timeout = -1ms; }},
        {"connect_timeout", [=](config& c) { c.connect_timeout = too_long; }},
        {"health_check_interval", [](config& c) { c.health_check_interval = -1ms; }},
        {"health_check_interval", [=](config& c) { c.health_check_interval = too_long; }},
        {"shutdown_timeout", [](config& c) { c.shutdown_timeout = -1ms; }},
        {"shutdown_timeout", [=](config& c) { c.shutdown_timeout = too_long; }},
        {"fence_ttl", [](config& c) { c.fence_ttl = -1ms; }},
        {"fence_ttl", [](config& c) { c.fence_ttl = 24h - 1ms; }},
        {"fence_ttl", [=](config& c) { c.fence_ttl = too_long; }},
        {"reconnect_min", [](config& c) { c.reconnect_min = 0ms; }},
        {"reconnect_min", [](config& c) { c.reconnect_min = 3s; }},
        {"reconnect_max", [=](config& c) { c.reconnect_max = too_long; }},
        {"fallback", [](config& c) { c.fallback = 9ms; }},
        {"fallback", [=](config& c) { c.fallback = too_long; }},
        {"max_waiters", [](config& c) { c.max_waiters = 0; }},
    };
    BOOST_CHECK_NO_THROW(check_config({}));
    for (auto const& row : table) {
        BOOST_TEST_CONTEXT(row.member) {
            config settings;
            row.spoil(settings);
            BOOST_CHECK_EXCEPTION(
                check_config(settings),
                std::invalid_argument,
                [&](auto const& e) { return names_part(e, "::" + row.member + ":"); }
            );
        }
    }
}

BOOST_AUTO_TEST_CASE(counters_that_stay_for_ever_are_allowed) {
    BOOST_CHECK_NO_THROW(check_config(counters_kept(config::never)));
    BOOST_CHECK_NO_THROW(check_config(counters_kept(std::chrono::hours{24 * 365 * 10})));
}

BOOST_AUTO_TEST_CASE(the_password_is_never_in_a_message) {
    config settings;
    settings.password = "s3cret";
    settings.host.clear();
    BOOST_CHECK_EXCEPTION(check_config(settings), std::invalid_argument, [](auto const& e) {
        return !names_part(e, "s3cret");
    });
}

BOOST_AUTO_TEST_CASE(an_instant_beyond_the_end_of_time_is_the_end_of_time) {
    constexpr time_point now{1'000s};
    BOOST_TEST(saturating_add(now, 5s) == now + 5s);
    BOOST_TEST(saturating_add(now, -5s) == now - 5s);
    BOOST_TEST(saturating_add(now, nanos::max()) == time_point::max());
    BOOST_TEST(saturating_add(time_point::max(), 1ns) == time_point::max());
    BOOST_TEST(saturating_add(time_point::max(), 0ns) == time_point::max());
}

BOOST_AUTO_TEST_SUITE_END()
