// Who had a lock when, and under which token. Every rule has a history that keeps it, and one that
// breaks it.
#include "support/history/checks.hpp"
#include "unit/history/written_history.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <utility>
#include <vector>

using namespace holdfast::history;

BOOST_AUTO_TEST_CASE(two_who_believe_at_a_time_break_exclusion) {
    story all;
    all.op(1, 1).whole(10, 30, 5);
    all.op(2, 1).whole(29, 40, 6);
    auto const found = check(all);
    BOOST_TEST(found.counts.overlaps == 1);
    BOOST_REQUIRE(!found.violations.empty());
    BOOST_TEST(found.violations[0].broken == rule::exclusion);
    BOOST_TEST(found.violations[0].at == at_ms(29));
}

BOOST_AUTO_TEST_CASE(an_overlap_is_found_behind_a_third_one) {
    story all;
    all.op(1, 1).invoke(1).granted(10, 5, 1010).releasing(100).released(101);
    all.op(2, 1).invoke(1).granted(20, 6, 1020).releasing(30).released(31);
    all.op(3, 1).invoke(1).granted(50, 7, 1050).releasing(60).released(61);
    BOOST_TEST(check(all).counts.overlaps == 2);
}

BOOST_AUTO_TEST_CASE(a_lease_that_was_lost_is_believed_in_no_more) {
    story all;
    all.op(1, 1).invoke(1).granted(10, 5, 1010).says(700, happening::lost).releasing(705);
    all.op(2, 1).whole(710, 720, 6);
    keeps_all_rules(all);
}

BOOST_AUTO_TEST_CASE(validity_ends_by_the_clock_also_for_one_who_was_stopped) {
    story all;
    all.op(1, 1).invoke(1).granted(10, 5, 1010).says(3000, happening::lost).releasing(3001);
    all.span(happening::paused, 100, 2990, 1);
    all.op(2, 1).whole(1011, 1020, 6);
    auto const found = check(all);
    BOOST_TEST(broken_rules(found).empty());
    BOOST_TEST(found.counts.excused == 1);
}

BOOST_AUTO_TEST_CASE(a_dead_process_believes_nothing) {
    story all;
    all.op(1, 1).invoke(1).granted(10, 5, 1010).moved(400, 1400);
    all.conductor(500, happening::killed, 1);
    all.op(2, 1).whole(1410, 1420, 6);
    keeps_all_rules(all);
}

BOOST_AUTO_TEST_CASE(leases_of_one_owner_are_one_grant) {
    story all;
    all.op(1, 1, 77).invoke(1).granted(10, 5, 1010).releasing(30).released(31);
    all.op(1, 2, 77).invoke(12).granted(15, 5, 1010).releasing(25).released(26);
    keeps_all_rules(all);
    all.op(2, 1).whole(28, 40, 6);
    BOOST_TEST(check(all).counts.overlaps == 1);
}

BOOST_AUTO_TEST_CASE(an_overlap_after_a_loss_of_data_is_explained) {
    story all;
    all.op(1, 1).invoke(1).granted(10, 5, 1010).says(400, happening::lost).releasing(401);
    all.span(happening::data_lost, 100, 150);
    all.op(2, 1).whole(160, 200, 6);
    auto const found = check(all);
    BOOST_TEST(broken_rules(found).empty());
    BOOST_TEST(found.counts.explained_overlaps == 1);
    BOOST_TEST(found.counts.overlaps == 0);
}

BOOST_AUTO_TEST_CASE(a_loss_of_data_explains_nothing_that_was_granted_after_it_or_before) {
    story after;
    after.span(happening::data_lost, 2, 5);
    after.op(1, 1).whole(10, 30, 5);
    after.op(2, 1).whole(20, 40, 6);
    BOOST_TEST(check(after).counts.overlaps == 1);

    story waited;
    waited.span(happening::data_lost, 2, 5);
    waited.op(1, 1).invoke(1).granted(600, 5, 1600).releasing(630);
    waited.op(2, 1).whole(620, 640, 6);
    BOOST_TEST(check(waited).counts.overlaps == 1);

    story before;
    before.op(1, 1).whole(10, 30, 5);
    before.op(2, 1).whole(20, 40, 6);
    before.span(happening::data_lost, 25, 28);
    BOOST_TEST(check(before).counts.overlaps == 1);
}

BOOST_AUTO_TEST_CASE(a_loss_of_data_explains_what_a_client_passed_on_before_it_knew) {
    // The second one came after the loss and is told of it soon after it has got the lock.
    for (auto const& [deadline, fine] : {std::pair{1010, true}, std::pair{1011, false}}) {
        story all;
        all.op(1, 1).invoke(1).granted(10, 5, 1010).releasing(160).released(161);
        all.span(happening::data_lost, 100, 150);
        all.op(1, 2).invoke(155).granted(162, 6, deadline).says(165, happening::lost);
        all.op(2, 1).whole(170, 200, 1795);
        judge(all, fine, rule::deadline);
    }
    story another;
    another.op(1, 1).invoke(1).granted(10, 5, 1010).releasing(160).released(161);
    another.span(happening::data_lost, 100, 150);
    another.op(3, 1).invoke(155).granted(162, 6, 1010).says(165, happening::lost);
    another.op(2, 1).whole(170, 200, 1795);
    breaks(another, rule::deadline);
}

BOOST_AUTO_TEST_CASE(a_step_of_the_wall_clock_explains_an_overlap) {
    story all;
    all.op(1, 1).whole(10, 30, 5);
    all.op(2, 1).whole(29, 40, 6);
    all.conductor(15, happening::clock_moved);
    auto const found = check(all);
    BOOST_TEST(broken_rules(found).empty());
    BOOST_TEST(found.counts.explained_overlaps == 1);
}

BOOST_AUTO_TEST_CASE(a_grant_before_the_deadline_of_another_breaks_it) {
    for (auto const& [next, fine] : {std::pair{1010, true}, std::pair{1009, false}}) {
        story all;
        all.op(1, 1).invoke(1).granted(10, 5, 1010).says(710, happening::lost).releasing(1100);
        all.op(2, 1).whole(next, 1090, 6);
        judge(all, fine, rule::deadline);
    }
}

// A process was stopped between the reply and the call of its handler.
BOOST_AUTO_TEST_CASE(a_lease_that_is_over_when_it_arrives_may_have_been_granted_before_the_other) {
    for (auto const& [token, fine] : {std::pair{5, true}, std::pair{7, false}}) {
        story all;
        all.op(1, 1).invoke(1).granted(2000, token, 1010).says(2001, happening::lost);
        all.span(happening::paused, 700, 1999, 1);
        all.op(2, 1).invoke(1).granted(1900, 6, 2900).releasing(2100).released(2101);
        judge(all, fine, rule::deadline);
    }
}

BOOST_AUTO_TEST_CASE(a_grant_from_before_a_loss_of_data_may_arrive_after_one_that_followed_the_loss
) {
    for (auto const& [token, fine] : {std::pair{5, true}, std::pair{7, false}}) {
        story all;
        all.op(1, 1).invoke(90).granted(170, token, 1090).releasing(180);
        all.span(happening::data_lost, 100, 150);
        all.op(2, 1).invoke(155).granted(160, 6, 1160).releasing(190);
        BOOST_TEST(check(all).counts.overlaps == (fine ? 0 : 1));
        BOOST_TEST(check(all).counts.explained_overlaps == (fine ? 1 : 0));
    }
}

BOOST_AUTO_TEST_CASE(the_deadline_of_a_dead_process_stands) {
    story all;
    all.op(1, 1).invoke(1).granted(10, 5, 1010).moved(400, 1400);
    all.conductor(500, happening::killed, 1);
    all.op(2, 1).whole(1300, 1420, 6);
    breaks(all, rule::deadline);
}

BOOST_AUTO_TEST_CASE(no_lease_is_renewed_after_its_key_was_lost) {
    for (auto const& [renewed_to, fine] : {std::pair{1500, true}, std::pair{1501, false}}) {
        story all;
        all.op(1, 1).invoke(1).granted(10, 5, 1010).moved(600, renewed_to).releasing(700);
        all.span(happening::data_lost, 400, 500);
        all.op(2, 1).invoke(1).granted(705, 6, 1705).releasing(710);
        judge(all, fine, rule::data_loss);
    }
}

BOOST_AUTO_TEST_CASE(a_later_grant_with_a_smaller_token_breaks_the_order) {
    story all;
    all.op(1, 1).invoke(1).granted(10, 6, 1010).releasing(20).released(21);
    all.op(2, 1).invoke(22).granted(30, 5, 1030).releasing(40).released(41);
    breaks(all, rule::token_order);
}

BOOST_AUTO_TEST_CASE(tokens_grow_over_a_loss_of_data) {
    story all;
    all.op(1, 1).invoke(1).granted(10, 6, 1010).releasing(20).released(21);
    all.span(happening::data_lost, 600, 700);
    all.op(2, 1).invoke(705).granted(710, 5, 1710).releasing(720).released(721);
    auto const found = check(all);
    // Both were around when the data were lost: nobody can say which was granted first.
    BOOST_TEST(broken_rules(found).empty());

    story apart;
    apart.op(1, 1).invoke(1).granted(10, 6, 1010).releasing(20).released(21);
    apart.op(2, 1).invoke(22).granted(30, 4, 1030).releasing(40).released(41);
    apart.span(happening::data_lost, 600, 700);
    breaks(apart, rule::token_order);
}

BOOST_AUTO_TEST_CASE(a_token_that_was_given_out_twice) {
    story all;
    all.op(1, 1).invoke(1).granted(10, 5, 1010).releasing(20).released(21);
    all.op(2, 1).invoke(22).granted(30, 5, 1030).releasing(40).released(41);
    auto const broken = broken_rules(check(all));
    BOOST_TEST((std::count(broken.begin(), broken.end(), rule::token_reuse) == 1));
}

BOOST_AUTO_TEST_CASE(a_free_lock_goes_to_who_waits_in_calm_times) {
    struct {
        std::int64_t granted;
        std::int64_t calm;
        std::int64_t asked;
        bool fine;
    } const cases[] = {
        {721, 20, 15, true},
        {722, 20, 15, false},
        {722, 22, 15, true},
        {722, 20, 22, true},  // was not there yet
    };
    for (auto const& c : cases) {
        story all;
        all.conductor(c.calm, happening::calm);
        all.op(1, 1).whole(10, 20, 5);
        all.op(2, 1).invoke(c.asked).granted(c.granted, 6, c.granted + 1000).releasing(730);
        judge(all, c.fine, rule::hand_over);
    }
}

BOOST_AUTO_TEST_CASE(nobody_waits_who_was_stopped_or_when_the_release_was_not_answered) {
    story stopped;
    stopped.conductor(2, happening::calm);
    stopped.op(1, 1).whole(10, 20, 5);
    stopped.op(2, 1).invoke(15).granted(900, 6, 1900).releasing(901);
    auto unanswered = stopped;
    breaks(stopped, rule::hand_over);
    stopped.span(happening::stalled, 100, 400, 3);
    keeps_all_rules(stopped);
    std::erase_if(unanswered.events, [](event const& e) { return e.what == happening::released; });
    keeps_all_rules(unanswered);
}

BOOST_AUTO_TEST_CASE(a_failover_explains_two_holders_but_no_stale_access) {
    story all;
    all.op(1, 1).invoke(0).granted(10, 5, 1010).uses(11, happening::read);
    all.change(300, 500, 300);
    all.op(2, 1).whole(510, 600, 6);
    auto stale = all;
    keeps_all_rules(all);
    BOOST_TEST(check(all).counts.explained_overlaps == 1);
    stale.op(1, 1).says(601, happening::lost, "failed_over");
    stale.events.push_back(
        {.at = at_ms(605),
         .what = happening::written,
         .process = 1,
         .op = 1,
         .lock = 0,
         .token = 5,
         .flags = was_accepted,
         .word = {}}
    );
    breaks(stale, rule::stale_access);
}

BOOST_AUTO_TEST_CASE(who_was_told_of_a_failover_is_granted_nothing_by_the_former_server) {
    for (auto const& [told, fine] : {std::pair{50, true}, std::pair{49, false}}) {
        story all;
        // The former server grants locks until 580.
        all.op(1, 1).invoke(5).granted(550, 5, 1550).releasing(700);
        all.change(40, told, 580);
        all.op(2, 1).invoke(5).granted(600, 6, 1600).releasing(705);
        if (fine) {
            keeps_all_rules(all);
            continue;
        }
        breaks(all, rule::exclusion);
        // On a machine that stood still he was not told yet.
        all.span(happening::stalled, 100, 130, 3);
        keeps_all_rules(all);
    }
}

BOOST_AUTO_TEST_CASE(a_failover_explains_what_the_other_server_cannot_know) {
    constexpr std::int64_t this_one = 1;
    constexpr std::int64_t another = 2;
    struct {
        std::int64_t last_lost;
        std::int64_t locks;
        bool fine;
    } const cases[] = {
        {400, 0, true},
        {400, this_one, true},
        {400, another, false},
        {-1, 0, false},  // it has all that was written
        {50, 0, true},   // passed on within a client that did not know yet
        {49, 0, false},
    };
    for (auto const& c : cases) {
        story all;
        all.op(1, 1).invoke(5).granted(550, 5, 1550).releasing(700);
        all.change(40, 590, c.last_lost, c.locks);
        all.op(2, 1).invoke(5).granted(600, 6, 1600).releasing(705);
        if (c.fine) {
            keeps_all_rules(all);
            BOOST_TEST(check(all).counts.explained_overlaps == 1);
        } else {
            breaks(all, rule::exclusion);
        }
    }
}

BOOST_AUTO_TEST_CASE(in_calm_times_another_one_follows_who_was_killed) {
    // A lease after the death, and as long as a hand-over may take.
    for (auto const& [granted, fine] : {std::pair{1800, true}, std::pair{1801, false}}) {
        story all;
        all.conductor(1, happening::calm);
        all.op(1, 1).invoke(1).granted(10, 5, 1010);
        all.conductor(100, happening::killed, 1);
        all.op(2, 1).invoke(20).granted(granted, 6, granted + 1000).releasing(1900).released(1901);
        judge(all, fine, rule::hand_over);
    }
}

BOOST_AUTO_TEST_CASE(who_was_killed_on_receipt_keeps_it_for_a_lease) {
    story all;
    all.conductor(1, happening::calm);
    all.op(1, 1).whole(10, 50, 5);
    all.op(2, 1).invoke(20);
    all.conductor(60, happening::killed, 2);
    all.op(3, 1).invoke(30).granted(1200, 7, 2200).releasing(1300).released(1301);
    keeps_all_rules(all);
}

BOOST_AUTO_TEST_CASE(a_grant_without_a_majority_breaks_majority) {
    // By its deadline the request was sent before the nodes were gone, or after that.
    for (auto const& [deadline, fine] : {std::pair{1100, true}, std::pair{1101, false}}) {
        story all;
        all.op(1, 1).invoke(90).granted(200, 5, deadline).releasing(210).released(211);
        all.span(happening::no_majority, 100, 2000);
        judge(all, fine, rule::majority);
    }
}

BOOST_AUTO_TEST_CASE(an_attempt_that_takes_a_dead_quorum_for_busy_breaks_majority) {
    for (auto const& [asked, fine] : {std::pair{99, true}, std::pair{100, false}}) {
        story all;
        auto op = all.op(1, 1);
        op.invoke(asked, 100);
        all.events.back().word = "tried";
        op.says(150, happening::no_lease, "busy");
        all.span(happening::no_majority, 100, 2000);
        all.events.back().deadline = at_ms(1500);
        judge(all, fine, rule::majority);
    }
}
