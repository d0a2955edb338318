#include "prometheus/duration_histogram.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using holdfast::detail::duration_histogram;

BOOST_AUTO_TEST_SUITE(duration_histogram_test)

BOOST_AUTO_TEST_CASE(each_bucket_counts_what_is_not_above_its_bound) {
    std::vector<double> const bounds{0.001, 0.1, 2};
    duration_histogram one{bounds};
    for (std::chrono::nanoseconds const each :
         {std::chrono::nanoseconds{0}, 1'000'000ns, 1'000'001ns, 100'000'000ns, 3'000'000'000ns}) {
        one.observe(each);
    }
    auto const seen = one.read();
    BOOST_REQUIRE(seen.bucket.size() == 4U);
    BOOST_TEST(seen.bucket[0].cumulative_count == 2U);
    BOOST_TEST(seen.bucket[0].upper_bound == 0.001);
    BOOST_TEST(seen.bucket[1].cumulative_count == 4U);
    BOOST_TEST(seen.bucket[2].cumulative_count == 4U);
    BOOST_TEST(seen.bucket[3].cumulative_count == 5U);
    BOOST_TEST(std::isinf(seen.bucket[3].upper_bound));
    BOOST_TEST(seen.sample_count == 5U);
    BOOST_TEST(seen.sample_sum == 3.102000001, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(nothing_is_lost_between_threads) {
    std::vector<double> const bounds{0.5};
    duration_histogram one{bounds};
    auto const work = [&one] {
        for (int i = 0; i < 10'000; ++i) {
            one.observe(1s);
        }
    };
    std::thread other{work};
    work();
    other.join();
    auto const seen = one.read();
    BOOST_TEST(seen.bucket[0].cumulative_count == 0U);
    BOOST_TEST(seen.sample_count == 20'000U);
    BOOST_TEST(seen.sample_sum == 20'000.0);
}

BOOST_AUTO_TEST_SUITE_END()
