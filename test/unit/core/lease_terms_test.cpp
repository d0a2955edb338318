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
using holdfast::detail::lease_for;
using holdfast::detail::lease_terms;
using holdfast::detail::make_terms;
using holdfast::detail::millis;
using holdfast::detail::nanos;
using holdfast::detail::saturating_add;
using holdfast::detail::scaled;
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

namespace {

lease_terms learned_terms_of(config const& settings, acquire_options options = {}) {
    options.lease = holdfast::learned;
    lease_terms terms;
    BOOST_TEST(!make_terms(settings, options, terms));
    return terms;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_learned_lease_is_the_longest_until_something_is_known) {
    auto const terms = learned_terms_of({});
    BOOST_TEST(terms.learned);
    BOOST_TEST((terms.lease == 30s));
    BOOST_TEST((holdfast::detail::learned_terms({}, terms, 0ns).lease == 30s));
    BOOST_TEST(!lease_terms{}.learned);
}

BOOST_AUTO_TEST_CASE(a_learned_lease_covers_a_usual_hold_twice_before_its_first_renewal) {
    auto const terms = learned_terms_of({});
    BOOST_TEST(holdfast::detail::usual_holds_in_a_lease(terms) == 6);
    struct {
        nanos usual;
        std::chrono::milliseconds lease;
    } const table[] = {
        {nanos{1}, 5s},
        {50ms, 5s},
        {1s, 6s},
        {1s + 1ns, 6'001ms},
        {3s, 18s},
        {5s, 30s},
        {1h, 30s},
        {nanos::max(), 30s},
    };
    for (auto const& row : table) {
        auto const learned = holdfast::detail::learned_terms({}, terms, row.usual);
        BOOST_TEST((learned.lease == row.lease));
        BOOST_TEST(
            (learned.renew_after >= std::min<nanos>(2 * std::min<nanos>(row.usual, 5s), 10s) - 2ns)
        );
        BOOST_TEST((learned.loss_margin <= nanos{row.lease} / 10));
        BOOST_TEST(learned.learned);
    }
}

BOOST_AUTO_TEST_CASE(the_part_of_the_first_renewal_is_taken_into_account) {
    BOOST_TEST(usual_holds_in_a_lease(learned_terms_of({}, {.renew_at = 0.5})) == 4);
    BOOST_TEST(usual_holds_in_a_lease(learned_terms_of({}, {.renew_at = 0.1})) == 20);
    // No overflow.
    BOOST_TEST(usual_holds_in_a_lease(learned_terms_of({}, {.renew_at = 1e-300})) == 2'000'000);
}

BOOST_AUTO_TEST_CASE(the_shortest_learned_lease_leaves_room_for_the_time_outs) {
    using holdfast::detail::shortest_learned_lease;
    config settings;
    BOOST_TEST((shortest_learned_lease(settings) == 5s));
    settings.learned_lease_min = 1s;
    BOOST_TEST((shortest_learned_lease(settings) == 1s));
    settings.learned_lease_min = 0s;
    settings.lease = 2s;
    BOOST_TEST((shortest_learned_lease(settings) == 2s));
    settings.lease = 30s;
    settings.request_timeout = 3s;
    settings.connect_timeout = 3s;
    BOOST_TEST((shortest_learned_lease(settings) == 7s));
    learned_terms_of(settings);
}

BOOST_AUTO_TEST_CASE(a_hold_that_runs_long_is_renewed_seldom) {
    using holdfast::detail::learned_terms;
    using holdfast::detail::renewed_terms;
    auto const first = learned_terms({}, learned_terms_of({}), 50ms);
    BOOST_TEST((renewed_terms({}, first, first.renew_after).lease <= 5s));
    BOOST_TEST((renewed_terms({}, first, 4s).lease >= 11'990ms));
    BOOST_TEST((renewed_terms({}, first, 4s).lease <= 12s));
    BOOST_TEST((renewed_terms({}, first, 1h).lease <= 30s));
    BOOST_TEST((renewed_terms({}, first, 1h).lease >= 29'990ms));
    BOOST_TEST((renewed_terms({}, first, nanos::max()).lease <= 30s));
    // Never a shorter one, and never another than was asked for.
    auto const long_one = learned_terms({}, first, 4s);
    BOOST_TEST((renewed_terms({}, long_one, 1s) == long_one));
    lease_terms fixed;
    BOOST_TEST(!make_terms(config{}, acquire_options{.lease = 6s}, fixed));
    BOOST_TEST((renewed_terms({}, fixed, 1h) == fixed));
}

BOOST_AUTO_TEST_CASE(a_kind_that_is_renewed_sooner_leaves_the_options_as_they_are) {
    config settings;
    settings.lease = 60s;
    auto wanted = learned_terms_of(settings);
    wanted.renew_within = 10s;
    auto const short_one = holdfast::detail::learned_terms(settings, wanted, 50ms);
    BOOST_TEST((short_one.renew_every() == short_one.renew_after));
    auto const long_one = holdfast::detail::renewed_terms(settings, short_one, 1h);
    BOOST_TEST((long_one.renew_after >= 19'990ms));
    BOOST_TEST((long_one.renew_every() == 10s));
}

BOOST_AUTO_TEST_CASE(options_that_contradict_each_other_are_refused) {
    BOOST_TEST(terms_of({.lease = holdfast::learned, .renew = false}) == errc::invalid_options);
    BOOST_TEST(terms_of({.lease = holdfast::learned, .max_hold = 29s}) == errc::invalid_options);
    BOOST_TEST(terms_of({.orphan_after = -1ns}) == errc::invalid_options);
    BOOST_TEST(!terms_of({.orphan_after = 1ns}));
    BOOST_TEST(!terms_of({.orphan_after = nanos::max()}));
}

BOOST_AUTO_TEST_CASE(renewals_may_be_limited) {
    lease_terms terms;
    BOOST_TEST(!make_terms(config{}, acquire_options{}, terms));
    BOOST_TEST(terms.max_renewals == lease_terms::no_limit);
    BOOST_TEST(!make_terms(config{}, acquire_options{.max_renewals = 3}, terms));
    BOOST_TEST(terms.max_renewals == 3U);
    BOOST_TEST(holdfast::detail::terms_with({}, terms, 6s).max_renewals == 3U);
}

BOOST_AUTO_TEST_CASE(the_margin_of_a_shorter_lease_is_the_same_part_of_it) {
    lease_terms terms;
    BOOST_TEST(!make_terms({.loss_margin = 0.25}, acquire_options{.lease = 8s}, terms));
    BOOST_TEST((terms.margin_within(8s) == 2s));
    BOOST_TEST((terms.margin_within(4s) == 1s));
    BOOST_TEST((terms.margin_within(1s) == 250ms));
    BOOST_TEST((terms.margin_within(1h) == 2s));  // never more than that of the whole
}

// As long as it says, and no longer than it has to.
BOOST_AUTO_TEST_CASE(a_lease_that_is_asked_for_lasts_for_the_time_that_it_has_to) {
    for (double const drift : {0.0, 0.01, 0.1}) {
        config settings;
        settings.drift = drift;
        for (nanos const time : {nanos{1}, nanos{1s}, nanos{29'234'567'890}, nanos{24h}}) {
            auto const lease = lease_for(settings, time);
            auto const lasts = [&](millis of) { return of - scaled(of, drift) - 2ms; };
            BOOST_TEST((lasts(lease) >= time));
            BOOST_TEST((lasts(lease - 2ms) < time));
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
