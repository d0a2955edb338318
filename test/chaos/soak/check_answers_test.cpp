// What every caller is owed. Every rule has a history that keeps it, and one that breaks it.
#include "soak/check_answers.hpp"

#include "soak/written_history.hpp"

#include <boost/test/unit_test.hpp>

#include <utility>

using namespace holdfast::soak;

// It may end on its way.
BOOST_AUTO_TEST_CASE(a_lease_that_was_over_for_long_is_dead_on_arrival) {
    for (auto const& [granted, fine] : {std::pair{809, true}, std::pair{810, false}}) {
        history all;
        all.op(1, 1)
            .invoke(1)
            .granted(granted, 5, 1010)
            .says(granted + 1, happening::lost)
            .releasing(granted + 5);
        if (fine) {
            keeps_all_rules(all);
        } else {
            breaks(all, rule::dead_on_arrival);
            all.span(happening::stalled, 300, 711, 1);
            keeps_all_rules(all);
        }
    }
}

// The server lost its data while the lease was on its way. The history has no later end for a lease
// that is lost already.
BOOST_AUTO_TEST_CASE(a_lease_that_was_lost_with_the_data_is_over_from_then_on) {
    for (auto const& [lost, fine] : {std::pair{401, true}, std::pair{400, false}}) {
        history all;
        all.op(1, 1).invoke(1).granted(500, 5, 500).says(501, happening::lost).releasing(505);
        all.span(happening::data_lost, lost, lost + 1);
        if (fine) {
            keeps_all_rules(all);
        } else {
            breaks(all, rule::dead_on_arrival);
        }
    }
    history later;
    later.op(1, 1).invoke(1).granted(500, 5, 500).says(501, happening::lost).releasing(505);
    later.span(happening::data_lost, 505, 506);
    breaks(later, rule::dead_on_arrival);
}

// A lease that was handed on has less time, and is lost that much later before its end.
BOOST_AUTO_TEST_CASE(a_lease_that_an_owner_joins_ends_as_that_one_does) {
    for (auto const& [joined, fine] : {std::pair{529, true}, std::pair{530, false}}) {
        history all;
        all.op(1, 1, 7).invoke(1).granted(10, 5, 610).releasing(540);
        all.op(1, 2, 7).invoke(425).granted(joined, 5, 610).releasing(541);
        if (fine) {
            keeps_all_rules(all);
        } else {
            breaks(all, rule::dead_on_arrival);
        }
    }
}

BOOST_AUTO_TEST_CASE(who_is_told_after_the_deadline_is_told_too_late) {
    for (auto const& [told, fine] : {std::pair{1009, true}, std::pair{1010, false}}) {
        history all;
        all.op(1, 1).invoke(1).granted(10, 5, 1010).says(told, happening::lost).releasing(1100);
        if (fine) {
            keeps_all_rules(all);
        } else {
            breaks(all, rule::told_in_time);
        }
    }
}

BOOST_AUTO_TEST_CASE(who_has_begun_to_release_it_need_not_be_told_before_the_deadline) {
    history all;
    all.op(1, 1).invoke(1).granted(10, 5, 1010).releasing(500).says(1100, happening::lost);
    keeps_all_rules(all);
}

BOOST_AUTO_TEST_CASE(who_holds_beyond_the_deadline_must_have_been_told) {
    for (auto const& [end, fine] : {std::pair{1009, true}, std::pair{1010, false}}) {
        history all;
        all.op(1, 1).invoke(1).granted(10, 5, 1010).releasing(end);
        if (fine) {
            keeps_all_rules(all);
        } else {
            breaks(all, rule::told_in_time);
        }
    }
}

// Of a lease of 1000 ms that somebody renews.
BOOST_AUTO_TEST_CASE(a_lease_that_is_lost_in_calm_times_was_not_renewed) {
    for (auto const& [calm, fine] : {std::pair{701, true}, std::pair{700, false}}) {
        history all;
        all.op(1, 1)
            .invoke(1)
            .granted(10, 5, 1010)
            .moved(900, 2000)
            .says(1700, happening::lost, "expired")
            .releasing(1750);
        all.conductor(calm, happening::calm);
        if (fine) {
            keeps_all_rules(all);
        } else {
            auto stalled = all;
            breaks(all, rule::renewal);
            stalled.span(happening::stalled, 1000, 1400, 2);
            keeps_all_rules(stalled);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_pause_excuses_as_far_as_it_leaves_no_time_to_tell) {
    for (auto const& [until, fine] : {std::pair{911, true}, std::pair{909, false}}) {
        history all;
        all.op(1, 1).invoke(1).granted(10, 5, 1010).says(1015, happening::lost).releasing(1100);
        all.span(happening::stalled, 700, until, 1);
        all.span(happening::stalled, 700, 1100, 2);
        if (fine) {
            keeps_all_rules(all);
            BOOST_TEST(check(all).counts.excused == 1);
        } else {
            breaks(all, rule::told_in_time);
        }
    }
}

BOOST_AUTO_TEST_CASE(who_waits_too_long_after_the_fault_breaks_progress) {
    for (auto const& [granted, fine] : {std::pair{8000, true}, std::pair{8001, false}}) {
        history all;
        all.op(1, 1).invoke(1).granted(granted, 5, granted + 1000).releasing(granted + 1);
        all.conductor(500, happening::fault);
        all.conductor(2000, happening::healed);
        if (fine) {
            keeps_all_rules(all);
            BOOST_TEST(check(all).counts.slowest_recovery.count() == at_ms(6000));
        } else {
            breaks(all, rule::progress);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_machine_that_stands_still_hinders_progress) {
    history all;
    all.op(1, 1).invoke(1).granted(9000, 5, 10000).releasing(9001);
    all.span(happening::stalled, 3000, 6000, 2);
    keeps_all_rules(all);
}

BOOST_AUTO_TEST_CASE(who_is_never_answered_breaks_progress_unless_dead) {
    history all;
    all.op(1, 1).invoke(1);
    auto dead = all;
    breaks(all, rule::progress);
    dead.conductor(5, happening::killed, 1);
    keeps_all_rules(dead);
}

BOOST_AUTO_TEST_CASE(a_limit_is_kept) {
    for (auto const& [answer, fine] : {std::pair{1101, true}, std::pair{1102, false}}) {
        history all;
        all.op(1, 1).invoke(1, 100).says(answer, happening::no_lease, "busy");
        all.conductor(1090, happening::healed);
        if (fine) {
            keeps_all_rules(all);
        } else {
            breaks(all, rule::promptness);
        }
    }
    history stopped;
    stopped.op(1, 1).invoke(1, 100).says(2000, happening::no_lease, "busy");
    stopped.span(happening::paused, 50, 1990, 1);
    keeps_all_rules(stopped);
}

BOOST_AUTO_TEST_CASE(releases_and_renewals_are_answered_in_time) {
    history slow_release;
    slow_release.op(1, 1).invoke(1).granted(10, 5, 1010).releasing(20).released(1351);
    breaks(slow_release, rule::promptness);

    history slow_renewal;
    slow_renewal.op(1, 1)
        .invoke(1)
        .granted(10, 5, 3010)
        .says(20, happening::renew)
        .says(1181, happening::renewed, "ok")
        .releasing(1190)
        .released(1191);
    auto stopped = slow_renewal;
    breaks(slow_renewal, rule::promptness);
    stopped.span(happening::stalled, 15, 1182, 1);
    keeps_all_rules(stopped);
}
