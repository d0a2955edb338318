// Waits between attempts: drawn from zero to a bound that doubles up to a maximum.

#include "core/backoff.hpp"

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
using holdfast::detail::backoff;

namespace {
// The greatest value that a caller may draw.
constexpr double nearly_one = 1.0 - 1e-12;
}  // namespace

BOOST_AUTO_TEST_SUITE(backoff_test)

BOOST_AUTO_TEST_CASE(the_bound_doubles_up_to_the_maximum_and_stays_there) {
    backoff waits{50ms, 2s};
    for (auto const expected :
         {25ms, 50ms, 100ms, 200ms, 400ms, 800ms, 1'000ms, 1'000ms, 1'000ms}) {
        BOOST_TEST((waits.next(0.5) == expected));
    }
}

BOOST_AUTO_TEST_CASE(the_wait_is_anything_from_zero_to_the_bound) {
    backoff waits{50ms, 2s};
    BOOST_TEST((waits.next(0.0) == 0ns));
    auto const longest = waits.next(nearly_one);
    BOOST_TEST((longest < 100ms));
    BOOST_TEST((longest > 99ms));
}

BOOST_AUTO_TEST_CASE(a_reset_starts_again) {
    backoff waits{50ms, 2s};
    waits.next(0.5);
    waits.next(0.5);
    waits.reset();
    BOOST_TEST((waits.next(0.5) == 25ms));
}

BOOST_AUTO_TEST_CASE(a_thousand_failures_do_not_overflow) {
    backoff waits{1ms, 24h};
    for (int i = 0; i < 1'000; ++i) {
        auto const wait = waits.next(nearly_one);
        BOOST_TEST((wait >= 0ns && wait < 24h));
    }
}

BOOST_AUTO_TEST_SUITE_END()
