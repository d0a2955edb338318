#include "runtime/wall_clock.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>

BOOST_AUTO_TEST_CASE(the_wall_clock_tells_the_time_of_day) {
    auto const before = std::chrono::system_clock::now();
    auto const now = holdfast::detail::wall_clock_now();
    auto const after = std::chrono::system_clock::now();
    // It counts in whole microseconds.
    BOOST_TEST((now >= before - std::chrono::microseconds{1}));
    BOOST_TEST((now <= after));
}
