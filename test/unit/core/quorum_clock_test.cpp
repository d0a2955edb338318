// The token that is proposed to the nodes of a quorum.

#include "core/quorum_clock.hpp"

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
using holdfast::detail::quorum_clock;
using holdfast::detail::time_point;

namespace {

time_point const start{1h};

}  // namespace

BOOST_AUTO_TEST_SUITE(quorum_clock_test)

BOOST_AUTO_TEST_CASE(nothing_is_proposed_while_nothing_is_known) {
    quorum_clock const unknown;
    BOOST_TEST(unknown.propose({}, start).value == 0U);
    BOOST_TEST(unknown.propose({7}, start).value == 8U);
}

BOOST_AUTO_TEST_CASE(the_clock_that_is_ahead_goes_on) {
    quorum_clock clock;
    clock.on_reply(1'000'000, start);
    clock.on_reply(900'000, start);
    BOOST_TEST(clock.propose({}, start + 5us).value == 1'000'005U);
    clock.on_reply(1'000'003, start + 5us);
    BOOST_TEST(clock.propose({}, start + 5us).value == 1'000'005U);
    clock.on_reply(2'000'000, start + 6us);
    BOOST_TEST(clock.propose({}, start + 6us).value == 2'000'000U);
    // It never goes back.
    BOOST_TEST(clock.propose({}, start).value == 2'000'000U);
}

BOOST_AUTO_TEST_CASE(it_is_more_than_the_last_token_that_was_heard_of) {
    quorum_clock clock;
    clock.on_reply(1'000'000, start);
    BOOST_TEST(clock.propose({5'000'000}, start).value == 5'000'001U);
    BOOST_TEST(clock.propose({5}, start).value == 1'000'000U);
}

BOOST_AUTO_TEST_CASE(what_no_script_could_take_is_not_proposed) {
    constexpr auto greatest = (std::uint64_t{1} << 53) - 1;
    quorum_clock clock;
    BOOST_TEST(clock.propose({greatest}, start).value == 0U);
    clock.on_reply(greatest + 1, start);
    BOOST_TEST(clock.propose({}, start).value == 0U);
    clock.on_reply(0, start);
    BOOST_TEST(clock.propose({}, start + 1s).value == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
