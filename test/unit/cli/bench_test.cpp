// The figures of a measurement.

#include "cli/bench.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <vector>

using namespace std::chrono_literals;
using holdfast::cli::figures_of;

BOOST_AUTO_TEST_SUITE(cli_bench_test)

BOOST_AUTO_TEST_CASE(times_are_counted_and_put_in_order) {
    std::vector<std::chrono::nanoseconds> times;
    for (int i = 100; i > 0; --i) {
        times.push_back(std::chrono::microseconds{i});
    }
    auto const found = figures_of(times, 2s);
    BOOST_TEST(found.pairs == 100U);
    BOOST_TEST(found.pairs_per_second == 50.0);
    BOOST_TEST((found.median == 51us));
    BOOST_TEST((found.p99 == 100us));
    BOOST_TEST((found.longest == 100us));
}

BOOST_AUTO_TEST_CASE(nothing_has_no_figures) {
    BOOST_TEST(figures_of({}, 2s).pairs == 0U);
    BOOST_TEST(figures_of({1us}, 0s).pairs_per_second == 0.0);
    BOOST_TEST((figures_of({1us}, 1s).p99 == 1us));
}

BOOST_AUTO_TEST_SUITE_END()
