// Whether a further holder of a client may have a hold that others have.

#include "core/sharing.hpp"

#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
using holdfast::detail::hold_fsm;
using holdfast::detail::lease_terms;
using holdfast::detail::sharing;
using holdfast::detail::time_point;
using extent = sharing::extent;

namespace {

constexpr time_point t0{1'000s};
lease_terms const usual{.lease = 30s, .drift = 302ms};

hold_fsm fresh() {
    return {{t0, t0 + 29s}, {}, t0 + 1ms};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sharing_test)

BOOST_AUTO_TEST_CASE(those_that_come_later_may_have_it_for_a_moment) {
    auto const fsm = fresh();
    sharing const open{extent::all, t0};
    BOOST_TEST(open.admits(false, fsm, usual, t0 + 1ms));
    BOOST_TEST(open.admits(false, fsm, usual, t0 + sharing::longest_ignorance));
    BOOST_TEST(!open.admits(false, fsm, usual, t0 + sharing::longest_ignorance + 1ns));
    // Those that waited are admitted by the grant itself.
    BOOST_TEST(open.admits(true, fsm, usual, t0 + 1s));
}

BOOST_AUTO_TEST_CASE(where_somebody_waits_only_those_have_it_that_waited_too) {
    sharing const wanted{extent::those_that_waited, t0};
    BOOST_TEST(wanted.admits(true, fresh(), usual, t0 + 1ms));
    BOOST_TEST(!wanted.admits(false, fresh(), usual, t0 + 1ms));
    sharing const alone{extent::none, t0};
    BOOST_TEST(!alone.admits(true, fresh(), usual, t0 + 1ms));
    BOOST_TEST(!alone.admits(false, fresh(), usual, t0 + 1ms));
}

BOOST_AUTO_TEST_CASE(nobody_has_it_any_more_when_the_server_has_refused_another) {
    sharing open{extent::all, t0};
    open.close();
    BOOST_TEST(!open.admits(false, fresh(), usual, t0 + 1ms));
    BOOST_TEST(!open.admits(true, fresh(), usual, t0 + 1ms));
}

BOOST_AUTO_TEST_CASE(a_hold_in_doubt_or_near_its_end_is_not_shared) {
    sharing const open{extent::all, t0};
    auto fsm = fresh();
    fsm.on_doubt(t0 + 1ms);
    BOOST_TEST(!open.admits(false, fsm, usual, t0 + 2ms));
    fsm.on_confirmed({t0 + 3ms, t0 + 29s});
    BOOST_TEST(open.admits(false, fsm, usual, t0 + 4ms));
    fsm.on_lost();
    BOOST_TEST(!open.admits(false, fsm, usual, t0 + 4ms));

    hold_fsm const old{{t0 - 20s, t0 + 9s}, {}, t0};
    BOOST_TEST(!open.admits(false, old, usual, t0));
    // Long enough, but not for this one.
    auto longer = usual;
    longer.lease = 60s;
    BOOST_TEST(!open.admits(false, fresh(), longer, t0));
    auto unrenewed = usual;
    unrenewed.renew = false;
    BOOST_TEST(!open.admits(false, fresh(), unrenewed, t0));
    // However long the answer took, what was granted now is as good as a grant of its own.
    auto const whole = unrenewed.lease - unrenewed.drift;
    hold_fsm const granted_now{{t0 - 1s, t0 - 1s + whole}, {}, t0};
    BOOST_TEST(open.admits(true, granted_now, unrenewed, t0));
    BOOST_TEST(!open.admits(true, granted_now, unrenewed, t0 + 21ms));
}

BOOST_AUTO_TEST_SUITE_END()
