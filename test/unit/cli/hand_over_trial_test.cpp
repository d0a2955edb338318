// What a trial means. Trials with real servers are those of the doctor.

#include "cli/hand_over_trial.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>

using namespace holdfast::cli;
using namespace std::chrono_literals;
using holdfast::errc;

BOOST_AUTO_TEST_CASE(a_hand_over_that_is_much_slower_than_a_round_trip_is_a_warning) {
    auto const quick = check_hand_over({.took = 400us}, 100us);
    BOOST_TEST((quick.what == severity::ok));
    BOOST_TEST(quick.text.starts_with("0.40 ms"));
    BOOST_TEST((check_hand_over({.took = 100ms}, 20ms).what == severity::ok));
    BOOST_TEST((check_hand_over({.took = 100ms}, 1ms).what == severity::warning));
    BOOST_TEST((check_hand_over({.took = 100ms}, {}).what == severity::warning));
}

BOOST_AUTO_TEST_CASE(a_lock_that_did_not_arrive_is_a_fault) {
    auto const late = check_hand_over(
        {.cause = errc::unreachable, .step = "a client that waited did not get the lock"},
        1ms
    );
    BOOST_TEST((late.what == severity::fault));
    BOOST_TEST(late.text.starts_with("a client that waited did not get the lock: "));
    BOOST_TEST(!late.hint.empty());
    auto const denied = check_hand_over(
        {.cause = errc::no_permission, .step = "a lock was not granted", .remarks = "NOPERM x"},
        1ms
    );
    BOOST_TEST(denied.text.find("NOPERM x") != std::string::npos);
    BOOST_TEST(denied.hint.starts_with("allow the user"));
}
