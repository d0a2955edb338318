// How long a lock is usually held: a running mean, and what of it the server is told.

#include "core/usual_hold.hpp"

#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdlib>

using namespace std::chrono_literals;
using holdfast::detail::max_lease;
using holdfast::detail::nanos;
using holdfast::detail::usual_hold;

namespace {

bool about(nanos length, nanos expected) {
    return std::abs((length - expected).count()) <= expected.count() / 1'000 + 1'000;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(usual_hold_test)

BOOST_AUTO_TEST_CASE(nothing_is_known_at_first) {
    usual_hold usual;
    BOOST_TEST((usual.expected() == 0ns));
    BOOST_TEST((usual.take() == usual_hold::report{}));
    usual.on_told(0ns);
    BOOST_TEST((usual.expected() == 0ns));
}

BOOST_AUTO_TEST_CASE(what_the_server_knows_is_expected) {
    usual_hold usual;
    usual.on_told(50ms);
    BOOST_TEST(about(usual.expected(), 50ms));
    BOOST_TEST(usual.take().count == 0U);
    BOOST_TEST(about(usual.expected(), 50ms));
}

BOOST_AUTO_TEST_CASE(the_newest_hold_weighs_a_fifth) {
    usual_hold usual;
    usual.on_told(100ms);
    usual.on_held(200ms);
    BOOST_TEST(about(usual.expected(), 120ms));
    usual.on_held(20ms);
    BOOST_TEST(about(usual.expected(), 100ms));
}

BOOST_AUTO_TEST_CASE(the_first_hold_is_all_that_is_known) {
    usual_hold usual;
    usual.on_held(70ms);
    BOOST_TEST(about(usual.expected(), 70ms));
    auto const told = usual.take();
    BOOST_TEST(told.count == 1U);
    BOOST_TEST(about(told.mean, 70ms));
}

// The server mixes them in as if it had been told of each.
BOOST_AUTO_TEST_CASE(several_holds_are_reported_as_one) {
    usual_hold usual;
    usual.on_told(1s);
    auto by_hand = 1e9;
    for (nanos const held : {nanos{3s}, nanos{5ms}, nanos{700ms}, nanos{40s}}) {
        usual.on_held(held);
        by_hand = 0.8 * by_hand + 0.2 * static_cast<double>(held.count());
    }
    nanos const expected{static_cast<nanos::rep>(by_hand)};
    BOOST_TEST(about(usual.expected(), expected));
    auto const told = usual.take();
    BOOST_TEST(told.count == 4U);
    auto const old = std::pow(0.8, told.count);
    auto const mixed = old * 1e9 + (1 - old) * static_cast<double>(told.mean.count());
    BOOST_TEST(about(nanos{static_cast<nanos::rep>(mixed)}, expected));
    // The server may not answer.
    BOOST_TEST(about(usual.expected(), expected));
    BOOST_TEST(usual.take().count == 0U);
}

BOOST_AUTO_TEST_CASE(a_hold_of_any_length_is_a_number_that_the_scripts_take) {
    for (nanos const held : {nanos{-1}, nanos{0}, nanos{1}, nanos::max(), nanos::min()}) {
        usual_hold usual;
        usual.on_held(held);
        auto const told = usual.take();
        BOOST_TEST((told.mean >= 1us));
        BOOST_TEST((told.mean <= nanos{max_lease} + 10s));
    }
}

BOOST_AUTO_TEST_CASE(very_many_holds_do_not_overflow) {
    usual_hold usual;
    for (int i = 0; i < 100'000; ++i) {
        usual.on_held(50ms);
    }
    BOOST_TEST(about(usual.expected(), 50ms));
    BOOST_TEST(usual.take().count == 1'000U);
}

BOOST_AUTO_TEST_SUITE_END()
