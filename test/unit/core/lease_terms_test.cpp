// The times of an acquisition worked out from configuration and options, and what is refused: never
// a time that overflows, never a lease that one dead connection would cost.

#include "core/lease_terms.hpp"

#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

using namespace std::chrono_literals;
using holdfast::acquire_options;
using holdfast::config;
using holdfast::errc;
using holdfast::error_code;
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

error_code terms_of(acquire_options const& options, times const& settings = {}) {
    lease_terms unused;
    return make_terms(config_of(settings), options, unused);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lease_terms_test)

BOOST_AUTO_TEST_CASE(the_defaults_are_those_of_the_documentation) {
    lease_terms terms;
    BOOST_TEST(!make_terms(config{}, acquire_options{}, terms));
    BOOST_TEST((terms.lease == 30s));
    BOOST_TEST((terms.drift == 302ms));
    BOOST_TEST((terms.loss_margin == 3s));
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
    BOOST_TEST((terms.loss_margin == 600ms));
    auto const short_leases = config_of({.lease = 6s});
    BOOST_TEST((holdfast::detail::connect_timeout_of(short_leases) == 1s));
    BOOST_TEST((holdfast::detail::health_check_interval_of(short_leases) == 600ms));
}

BOOST_AUTO_TEST_CASE(a_lease_that_ends_before_its_first_renewal_is_refused) {
    lease_terms terms;
    config late;
    late.loss_margin = 0.5;
    BOOST_TEST(!make_terms(late, acquire_options{}, terms));
    BOOST_TEST((make_terms(late, acquire_options{.renew_at = 0.5}, terms) == errc::invalid_options)
    );
    BOOST_TEST(!make_terms(late, acquire_options{.renew = false, .renew_at = 0.5}, terms));
}

BOOST_AUTO_TEST_CASE(every_lease_from_one_second_to_a_day_works_with_the_defaults) {
    for (nanos const lease :
         {nanos{1s}, nanos{1'001ms}, nanos{2s}, nanos{30s}, nanos{1h}, nanos{24h}}) {
        BOOST_TEST(!terms_of({.lease = lease}));
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
    // lease - drift - loss margin = 888 ms.
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

BOOST_AUTO_TEST_CASE(an_instant_beyond_the_end_of_time_is_the_end_of_time) {
    constexpr time_point now{1'000s};
    BOOST_TEST(saturating_add(now, 5s) == now + 5s);
    BOOST_TEST(saturating_add(now, -5s) == now - 5s);
    BOOST_TEST(saturating_add(now, nanos::max()) == time_point::max());
    BOOST_TEST(saturating_add(time_point::max(), 1ns) == time_point::max());
    BOOST_TEST(saturating_add(time_point::max(), 0ns) == time_point::max());
}

BOOST_AUTO_TEST_SUITE_END()
