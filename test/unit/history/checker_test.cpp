// Every rule has a history that keeps it, and one that breaks it. Of grants: check_grants_test.cpp.
#include "support/history/turns.hpp"
#include "unit/history/written_history.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace holdfast::history;

// From one history to the next.

BOOST_AUTO_TEST_CASE(one_after_the_other_is_fine) {
    story all;
    all.op(1, 1).whole(10, 20, 5);
    all.op(2, 1).whole(21, 30, 6);
    all.op(2, 2).whole(31, 40, 8);
    auto const found = check(all);
    BOOST_TEST(broken_rules(found).empty());
    BOOST_TEST(found.counts.grants == 3);
    BOOST_TEST(found.counts.hand_overs == 1);
    BOOST_TEST(found.counts.overlaps == 0);
    BOOST_TEST(found.counts.stale_offered == 0);
}

BOOST_AUTO_TEST_CASE(tokens_go_on_over_histories) {
    checker by_turns{by};
    story first;
    first.op(1, 1).whole(10, 20, 5);
    BOOST_TEST(broken_rules(by_turns.check(first.events)).empty());
    story second;
    second.op(1, 2).invoke(31).granted(32, 5, 1032).releasing(40).released(41);
    std::vector<rule> const order{rule::token_order};
    BOOST_TEST(
        broken_rules(by_turns.check(second.events)) == order,
        boost::test_tools::per_element()
    );
}

BOOST_AUTO_TEST_CASE(what_was_accepted_is_remembered_over_histories) {
    checker by_turns{by};
    story first;
    first.op(1, 1).whole(10, 20, 5);
    BOOST_TEST(broken_rules(by_turns.check(first.events)).empty());
    story second;
    second.op(1, 2).invoke(31).granted(32, 4, 1032).uses(33, happening::read).releasing(40);
    auto const broken = broken_rules(by_turns.check(second.events));
    BOOST_TEST((std::count(broken.begin(), broken.end(), rule::stale_access) == 1));
}

// What the protected resource accepted.

BOOST_AUTO_TEST_CASE(a_stale_token_may_be_offered_but_not_accepted) {
    for (bool const taken : {false, true}) {
        story all;
        auto late = all.op(1, 1);
        late.invoke(1).granted(10, 5, 1010).uses(11, happening::read);
        all.span(happening::paused, 12, 1290, 1);
        all.op(2, 1).whole(1011, 1020, 6);
        late.uses(1300, happening::written, taken ? was_accepted : 0)
            .says(1301, happening::lost)
            .releasing(1302)
            .released(1303);
        judge(all, !taken, rule::stale_access);
        auto const found = check(all);
        BOOST_TEST(found.counts.stale_offered == 1);
        BOOST_TEST(found.counts.stale_accepted == (taken ? 1 : 0));
    }
}

BOOST_AUTO_TEST_CASE(a_lost_update_is_one_with_the_token_only) {
    for (auto const flags : {undid_without_token, undid_another}) {
        story all;
        all.op(1, 1)
            .invoke(1)
            .granted(10, 5, 1010)
            .uses(11, happening::written, was_accepted | flags)
            .releasing(20)
            .released(21);
        if (flags == undid_another) {
            breaks(all, rule::lost_update);
        } else {
            keeps_all_rules(all);
        }
        BOOST_TEST(check(all).counts.lost_updates == (flags == undid_another ? 1 : 0));
        BOOST_TEST(check(all).counts.lost_without_token == (flags == undid_another ? 0 : 1));
    }
}

// How many permits were taken at a time.

namespace {

struct pool {
    story all;

    // The lease ends 1000 ms after the grant.
    operation_writer take(
        std::int64_t process,
        std::int64_t op,
        std::int64_t at,
        std::int64_t permits
    ) {
        auto made = all.op(process, op);
        made.invoke(at - 1);
        all.events.back().permits = permits;
        made.granted(at, process * 100 + op, at + 1000);
        return made;
    }
    void use(
        std::int64_t process,
        std::int64_t op,
        std::int64_t at,
        std::int64_t to,
        std::int64_t permits
    ) {
        take(process, op, at, permits).releasing(to).released(to + 1);
    }
    void check_that(bool fine) {
        auto of_ten = by;
        of_ten.permits = 10;
        std::vector<rule> const expected(fine ? 0 : 1, rule::permits);
        auto const broken = broken_rules(checker{of_ten}.check(all.events));
        BOOST_TEST(broken == expected, boost::test_tools::per_element());
    }
};

}  // namespace

BOOST_AUTO_TEST_CASE(several_may_hold_all_permits_there_are_and_no_more) {
    for (auto const last : {5, 6}) {
        pool of;
        of.use(1, 1, 10, 30, 3);
        of.use(2, 1, 20, 40, 2);
        of.use(3, 1, 25, 50, last);
        of.check_that(last == 5);
    }
}

BOOST_AUTO_TEST_CASE(permits_that_were_given_up_are_free) {
    pool of;
    of.use(1, 1, 10, 30, 10);
    of.use(2, 1, 30, 40, 10);
    of.check_that(true);
}

BOOST_AUTO_TEST_CASE(permits_of_a_process_that_was_killed_are_taken_until_its_deadline) {
    for (auto const at : {1009, 1010}) {
        pool of;
        of.take(1, 1, 10, 5);
        of.all.conductor(100, happening::killed, 1);
        of.use(2, 1, at, at + 10, 6);
        of.check_that(at == 1010);
    }
}

BOOST_AUTO_TEST_CASE(a_server_that_lost_all_of_it_may_grant_them_again) {
    for (auto const* const lost : {"", "permits"}) {
        pool of;
        of.take(1, 1, 10, 5);
        of.all.conductor(100, happening::killed, 1);
        of.all.span(happening::data_lost, 200, 300);
        of.all.events.back().word = lost;
        of.use(2, 1, 310, 320, 10);
        of.check_that(*lost == '\0');
    }
}

// What every caller is owed.

// It may end on its way.
BOOST_AUTO_TEST_CASE(a_lease_that_was_over_for_long_is_dead_on_arrival) {
    for (auto const& [granted, fine] : {std::pair{809, true}, std::pair{810, false}}) {
        story all;
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
        story all;
        all.op(1, 1).invoke(1).granted(500, 5, 500).says(501, happening::lost).releasing(505);
        all.span(happening::data_lost, lost, lost + 1);
        judge(all, fine, rule::dead_on_arrival);
    }
    story later;
    later.op(1, 1).invoke(1).granted(500, 5, 500).says(501, happening::lost).releasing(505);
    later.span(happening::data_lost, 505, 506);
    breaks(later, rule::dead_on_arrival);
}

// A lease that was handed on has less time, and is lost that much later before its end.
BOOST_AUTO_TEST_CASE(a_lease_that_an_owner_joins_ends_as_that_one_does) {
    for (auto const& [joined, fine] : {std::pair{529, true}, std::pair{530, false}}) {
        story all;
        all.op(1, 1, 7).invoke(1).granted(10, 5, 610).releasing(540);
        all.op(1, 2, 7).invoke(425).granted(joined, 5, 610).releasing(541);
        judge(all, fine, rule::dead_on_arrival);
    }
}

BOOST_AUTO_TEST_CASE(who_is_told_after_the_deadline_is_told_too_late) {
    for (auto const& [told, fine] : {std::pair{1009, true}, std::pair{1010, false}}) {
        story all;
        all.op(1, 1).invoke(1).granted(10, 5, 1010).says(told, happening::lost).releasing(1100);
        judge(all, fine, rule::told_in_time);
    }
}

BOOST_AUTO_TEST_CASE(who_has_begun_to_release_it_need_not_be_told_before_the_deadline) {
    story all;
    all.op(1, 1).invoke(1).granted(10, 5, 1010).releasing(500).says(1100, happening::lost);
    keeps_all_rules(all);
}

BOOST_AUTO_TEST_CASE(who_holds_beyond_the_deadline_must_have_been_told) {
    for (auto const& [end, fine] : {std::pair{1009, true}, std::pair{1010, false}}) {
        story all;
        all.op(1, 1).invoke(1).granted(10, 5, 1010).releasing(end);
        judge(all, fine, rule::told_in_time);
    }
}

// Of a lease of 1000 ms that somebody renews.
BOOST_AUTO_TEST_CASE(a_lease_that_is_lost_in_calm_times_was_not_renewed) {
    for (auto const& [calm, fine] : {std::pair{701, true}, std::pair{700, false}}) {
        story all;
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
        story all;
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
        story all;
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
    story all;
    all.op(1, 1).invoke(1).granted(9000, 5, 10000).releasing(9001);
    all.span(happening::stalled, 3000, 6000, 2);
    keeps_all_rules(all);
}

BOOST_AUTO_TEST_CASE(who_is_never_answered_breaks_progress_unless_dead) {
    story all;
    all.op(1, 1).invoke(1);
    auto dead = all;
    breaks(all, rule::progress);
    dead.conductor(5, happening::killed, 1);
    keeps_all_rules(dead);
}

BOOST_AUTO_TEST_CASE(a_limit_is_kept) {
    for (auto const& [answer, fine] : {std::pair{1101, true}, std::pair{1102, false}}) {
        story all;
        all.op(1, 1).invoke(1, 100).says(answer, happening::no_lease, "busy");
        all.conductor(1090, happening::healed);
        judge(all, fine, rule::promptness);
    }
    story stopped;
    stopped.op(1, 1).invoke(1, 100).says(2000, happening::no_lease, "busy");
    stopped.span(happening::paused, 50, 1990, 1);
    keeps_all_rules(stopped);
}

BOOST_AUTO_TEST_CASE(releases_and_renewals_are_answered_in_time) {
    story slow_release;
    slow_release.op(1, 1).invoke(1).granted(10, 5, 1010).releasing(20).released(1351);
    breaks(slow_release, rule::promptness);

    story slow_renewal;
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

// When the locks get another server.

BOOST_AUTO_TEST_CASE(a_worker_that_is_not_served_soon_after_a_failover_breaks_progress) {
    for (auto const& [granted, fine] : {std::pair{3000, true}, std::pair{3001, false}}) {
        story all;
        all.change(500, 1000, 500);
        all.op(1, 1).whole(1100, 1200, 5);
        all.op(2, 1).whole(granted, granted + 100, 6);
        if (fine) {
            keeps_all_rules(all);
            BOOST_TEST(check(all).counts.slowest_service.count() == at_ms(2000));
        } else {
            breaks(all, rule::progress);
        }
    }
    // It does not count what it was granted before, and may have been killed.
    story all;
    all.change(500, 1000, 500);
    all.op(1, 1).whole(1100, 1200, 5);
    all.op(2, 1).whole(100, 200, 4);
    all.op(1, 2).whole(3900, 4000, 6);
    auto dead = all;
    breaks(all, rule::progress);
    dead.conductor(1500, happening::killed, 2);
    keeps_all_rules(dead);
}

BOOST_AUTO_TEST_CASE(who_waits_for_a_lock_that_has_another_server_is_served_soon) {
    constexpr std::int64_t this_one = 1;
    constexpr std::int64_t another = 2;
    struct {
        std::int64_t locks;
        std::int64_t asked;
        std::int64_t granted;
        bool fine;
    } const cases[] = {
        {this_one, 900, 3000, true},
        {this_one, 900, 3001, false},
        {this_one, 1001, 3002, true},  // it did not wait then
        {another, 900, 3001, true},
        {this_one | another, 900, 3001, false},
    };
    for (auto const& word : {"failover", "migration"}) {
        for (auto const& c : cases) {
            story all;
            all.change(500, 1000, -1, c.locks, word);
            all.op(1, 1)
                .invoke(c.asked)
                .granted(c.granted, 6, c.granted + 1000)
                .releasing(c.granted + 1)
                .released(c.granted + 2);
            judge(all, c.fine, rule::progress);
        }
    }
    story counted;
    counted.change(500, 1000, -1, this_one, "migration");
    counted.op(1, 1).invoke(900).granted(1500, 6, 2500).releasing(1501).released(1502);
    auto const found = check(counted).counts;
    BOOST_TEST(found.migrations == 1);
    BOOST_TEST(found.failovers == 0);
    BOOST_TEST(found.slowest_move.count() == at_ms(500));
    BOOST_TEST(found.slowest_service.count() == 0);
}

BOOST_AUTO_TEST_CASE(who_waits_without_a_limit_waits_for_the_other_server) {
    struct {
        std::int64_t asked;
        std::int64_t failed;
        std::int64_t limit;
        bool fine;
    } const cases[] = {
        {900, 1100, unlimited, false},
        {900, 500, unlimited, false},
        {900, 499, unlimited, true},    // before the change
        {1001, 1100, unlimited, true},  // after it
        {900, 1100, 300, true},
    };
    for (auto const& c : cases) {
        story all;
        all.change(500, 1000, -1, 1, "migration");
        auto const asked = std::min(c.asked, c.failed);
        all.op(1, 1).invoke(asked, c.limit).says(c.failed, happening::failed, "unreachable");
        all.op(1, 2).whole(1200, 1300, 6);
        judge(all, c.fine, rule::progress);
    }
    story counted;
    counted.change(500, 1000, -1, 1, "migration");
    counted.op(1, 1).whole(800, 900, 5);
    counted.op(2, 1).whole(1100, 1200, 6);
    counted.op(2, 2).whole(300, 400, 4);
    BOOST_TEST(check(counted).counts.waiters_at_migrations == 1);
}

BOOST_AUTO_TEST_CASE(each_client_asks_a_wrong_server_for_what_was_under_way) {
    constexpr std::int64_t this_one = 1;
    constexpr std::int64_t another = 2;
    struct {
        std::int64_t locks;
        std::int64_t count;
        char const* word;
        bool fine;
    } const cases[] = {
        {this_one, 6, "soon", true},
        {this_one, 7, "soon", false},
        {this_one, 2, "late", true},
        {this_one, 3, "late", false},
        {another, 1, "soon", false},
        {0, 6, "soon", true},
    };
    for (auto const& c : cases) {
        story all;
        all.op(1, 1).whole(100, 200, 5);
        all.op(2, 1).whole(300, 400, 6);
        all.change(450, 500, -1, c.locks, "migration");
        all.op(1, 2).whole(600, 700, 7);
        all.op(2, 2).whole(800, 900, 8);
        all.events.push_back(
            {.at = at_ms(950), .what = happening::redirected, .limit = c.count, .word = c.word}
        );
        judge(all, c.fine, rule::redirection);
    }
    story none;
    none.events.push_back(
        {.at = at_ms(950), .what = happening::redirected, .limit = 1, .word = "soon"}
    );
    breaks(none, rule::redirection);
}

// What observers of an election are told.

namespace {

// In worker 9.
void observes(story& all, std::int64_t at) {
    all.events.push_back(
        {.at = at_ms(at), .what = happening::observes, .process = 9, .op = 1, .lock = 0}
    );
}
void sees(story& all, std::int64_t at, std::int64_t term, std::int64_t leader) {
    all.events.push_back(
        {.at = at_ms(at),
         .what = happening::observed,
         .process = 9,
         .op = 1,
         .lock = 0,
         .token = term,
         .owner = leader}
    );
}
void leads(
    story& all,
    std::int64_t process,
    std::int64_t from,
    std::int64_t to,
    std::int64_t term
) {
    all.op(process, 1)
        .invoke(from - 1)
        .granted(from, term, from + 1000)
        .moved(from + 300, to + 1000)
        .releasing(to)
        .released(to + 1);
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_observer_sees_one_leader_after_the_other) {
    story all;
    observes(all, 1);
    leads(all, 1, 10, 500, 5);
    sees(all, 20, 5, 1);
    leads(all, 2, 510, 900, 6);
    sees(all, 520, 6, 2);
    auto const found = check(all);
    BOOST_TEST(broken_rules(found).empty());
    BOOST_TEST(found.counts.leaders_seen == 2);
}

BOOST_AUTO_TEST_CASE(an_observer_that_sees_an_older_term_breaks_observation) {
    story all;
    observes(all, 1);
    leads(all, 1, 10, 500, 5);
    leads(all, 2, 510, 900, 6);
    sees(all, 520, 6, 2);
    sees(all, 530, 5, 1);
    breaks(all, rule::observation);
}

BOOST_AUTO_TEST_CASE(an_observer_that_takes_another_for_the_leader_breaks_observation) {
    story all;
    observes(all, 1);
    leads(all, 1, 10, 500, 5);
    sees(all, 20, 5, 2);
    breaks(all, rule::observation);
}

BOOST_AUTO_TEST_CASE(a_leader_that_was_killed_before_it_knew_may_be_seen) {
    story all;
    observes(all, 1);
    all.op(1, 1).invoke(1);
    sees(all, 20, 5, 1);
    all.conductor(30, happening::killed, 1);
    keeps_all_rules(all);
}

BOOST_AUTO_TEST_CASE(in_calm_times_each_leader_is_seen_that_leads_for_long) {
    for (auto const& [calm, to, fine] :
         {std::tuple{1, 1000, true}, std::tuple{1, 1200, false}, std::tuple{300, 1200, true}}) {
        story all;
        observes(all, 1);
        all.conductor(calm, happening::calm);
        leads(all, 1, 10, to, 5);
        judge(all, fine, rule::observation);
    }
}

BOOST_AUTO_TEST_CASE(a_leader_that_was_seen_in_time_need_not_be_seen_again) {
    story all;
    observes(all, 1);
    all.conductor(1, happening::calm);
    leads(all, 1, 10, 5000, 5);
    sees(all, 900, 5, 1);
    keeps_all_rules(all);
}

// What a single event breaks, and histories that cannot have happened.

BOOST_AUTO_TEST_CASE(a_deadline_does_not_move_back) {
    story all;
    all.op(1, 1)
        .invoke(1)
        .granted(10, 5, 1010)
        .moved(20, 1005)
        .moved(21, 1010)
        .releasing(30)
        .released(31);
    breaks(all, rule::deadline);
}

BOOST_AUTO_TEST_CASE(a_lease_that_is_valid_after_its_end_breaks_validity) {
    for (auto const& [looked, fine] : {std::pair{709, true}, std::pair{710, false}}) {
        story all;
        auto op = all.op(1, 1);
        op.invoke(1).granted(10, 5, 1010).says(looked, happening::looked).releasing(800);
        all.events[2].deadline = at_ms(1010);
        judge(all, fine, rule::validity);
    }
}

BOOST_AUTO_TEST_CASE(a_lease_that_is_short_from_the_beginning_is_valid_until_the_same_part_of_it) {
    for (auto const& [looked, fine] : {std::pair{859, true}, std::pair{860, false}}) {
        story all;
        auto op = all.op(1, 1);
        op.invoke(1).granted(510, 5, 1010).says(looked, happening::looked).releasing(900);
        all.events[2].deadline = at_ms(1010);
        judge(all, fine, rule::validity);
    }
}

BOOST_AUTO_TEST_CASE(a_worker_may_not_keep_its_own_event_loop_busy) {
    for (auto const& [busy_ms, fine] : {std::pair{159, true}, std::pair{160, false}}) {
        story all;
        all.span(happening::stalled, 100, 300, 1);
        all.events.back().limit = at_ms(busy_ms);
        all.span(happening::stalled, 400, 599, 1);
        all.events.back().limit = at_ms(199);
        judge(all, fine, rule::survival);
    }
}

BOOST_AUTO_TEST_CASE(what_the_conductor_says_is_a_violation) {
    std::pair<happening, rule> const all_of_them[] = {
        {happening::unclean, rule::clean_start},
        {happening::left_behind, rule::nothing_left},
        {happening::stuck, rule::survival},
        {happening::died, rule::survival},
    };
    for (auto const& [what, expected] : all_of_them) {
        story all;
        all.conductor(5, what, 1);
        breaks(all, expected);
    }
}

BOOST_AUTO_TEST_CASE(a_history_that_cannot_be_is_no_proof) {
    story twice;
    twice.op(1, 1).invoke(1).invoke(2).says(3, happening::failed, "x");
    breaks(twice, rule::malformed);

    story two_leases;
    two_leases.op(1, 1).invoke(1).granted(2, 5, 1002).granted(3, 5, 1002).releasing(4);
    breaks(two_leases, rule::malformed);

    story from_nowhere;
    from_nowhere.op(1, 1).granted(2, 5, 1002);
    breaks(from_nowhere, rule::malformed);

    story end_after_lease;
    end_after_lease.op(1, 1)
        .invoke(1)
        .granted(2, 5, 1002)
        .says(3, happening::failed, "x")
        .releasing(4);
    breaks(end_after_lease, rule::malformed);

    story release_of_nothing;
    release_of_nothing.op(1, 1).invoke(1).says(3, happening::failed, "x").releasing(4);
    breaks(release_of_nothing, rule::malformed);

    story answer_to_nothing;
    answer_to_nothing.op(1, 1).invoke(1).granted(2, 5, 1002).released(4).releasing(5);
    breaks(answer_to_nothing, rule::malformed);

    story unknown_user;
    unknown_user.op(1, 1).uses(5, happening::read);
    auto of_the_dead = unknown_user;
    breaks(unknown_user, rule::malformed);
    of_the_dead.conductor(1, happening::killed, 1);
    keeps_all_rules(of_the_dead);
}

BOOST_AUTO_TEST_CASE(a_deadline_of_a_quorum_moves_back_when_a_node_is_lost) {
    story all;
    all.op(1, 1)
        .invoke(1)
        .granted(10, 5, 1010)
        .moved(400, 1400)
        .moved(500, 1100)
        .says(1090, happening::lost)
        .releasing(1095)
        .released(1096);
    all.op(2, 1).whole(1100, 1120, 6);
    auto of_quorum = by;
    of_quorum.quorum = true;
    BOOST_TEST(broken_rules(checker{of_quorum}.check(all.events)).empty());
}

BOOST_AUTO_TEST_CASE(more_histories_that_cannot_be) {
    void (*const rows[])(story&) = {
        [](story& all) {
            auto op = all.op(1, 1);
            op.invoke(1).granted(2, 5, 1002).uses(3, happening::read);
            all.events.back().token = 6;  // not that of the lease
            op.releasing(4);
        },
        [](story& all) {
            all.op(1, 1)
                .invoke(1)
                .granted(2, 5, 1002)
                .says(3, happening::renewed, "ok")
                .releasing(4);
        },
        [](story& all) {
            all.op(1, 1)
                .invoke(1)
                .granted(2, 5, 1002)
                .says(3, happening::lost)
                .says(4, happening::lost)
                .releasing(5);
        },
        [](story& all) { all.op(1, 1).invoke(1).granted(2, 5, 1002).releasing(3).releasing(4); },
        [](story& all) {
            all.op(1, 1)
                .invoke(1, 100)
                .says(2, happening::no_lease, "busy")
                .says(3, happening::no_lease, "busy");
        },
    };
    for (auto const& write : rows) {
        story all;
        write(all);
        breaks(all, rule::malformed);
    }
}

// Turns

BOOST_AUTO_TEST_CASE(turns_are_checked_as_histories_are) {
    auto const first = turn{.asked = 0, .granted = 10, .released = 20, .token = 5, .number = 0};
    auto const next = turn{.asked = 5, .granted = 25, .released = 40, .token = 6, .number = 1};
    auto const but = [&](auto change) {
        auto changed = next;
        change(changed);
        return changed;
    };
    auto without_tokens = by;
    without_tokens.tokens = false;
    auto one_permit = by;
    one_permit.permits = 1;
    auto const lease = by.lease.count();
    auto const longest_wait = by.grant_within.count();
    struct {
        turn second;
        std::vector<rule> broken;
        rules checked = by;
    } const rows[] = {
        {next, {}},
        {but([](turn& of) { of.granted = 20; }), {}},
        {but([](turn& of) { of.granted = 19; }), {rule::exclusion}},
        {but([](turn& of) {
             of.lock = 1;
             of.granted = 19;
             of.number = 0;
         }),
         {}},
        // The token is offered to the resource, too.
        {but([](turn& of) { of.token = 4; }), {rule::token_order, rule::stale_access}},
        {but([](turn& of) { of.token = 5; }), {rule::token_reuse, rule::token_order}},
        {but([](turn& of) { of.token = 0; }), {rule::token_order}},
        {but([](turn& of) { of.token = 0; }), {}, without_tokens},
        {but([](turn& of) { of.token = 4; }),
         {rule::token_order, rule::stale_access},
         without_tokens},
        {but([](turn& of) { of.number = 0; }), {rule::lost_update}},
        {but([](turn& of) { of.released = of.granted = 1'000'000'000; }), {rule::hand_over}},
        {but([&](turn& of) {
             of.asked = 30;
             of.granted = 30 + longest_wait;
             of.released = of.granted + 1;
         }),
         {}},
        {but([&](turn& of) {
             of.asked = 30;
             of.granted = 31 + longest_wait;
             of.released = of.granted + 1;
         }),
         {rule::progress}},
        {but([&](turn& of) { of.released = 24 + lease; }), {}},
        {but([&](turn& of) { of.released = 25 + lease; }), {rule::told_in_time}},
        {but([](turn& of) {
             of.granted = 19;
             of.permits = 1;
         }),
         {rule::permits},
         one_permit},
        {but([](turn& of) {
             of.granted = 20;
             of.permits = 1;
         }),
         {},
         one_permit},
    };
    for (auto const& row : rows) {
        auto before = first;
        before.permits = row.second.permits;
        std::vector<std::string> names;
        for (auto const& sentence : broken_by({row.second, before}, row.checked)) {
            names.push_back(sentence.substr(0, sentence.find(':')));
        }
        std::vector<std::string> expected;
        for (auto const each : row.broken) {
            expected.emplace_back(name_of(each));
        }
        BOOST_TEST_CONTEXT("row " << &row - rows) {
            BOOST_TEST(names == expected, boost::test_tools::per_element());
        }
    }
    // Nobody had a turn: there is nothing to be right.
    BOOST_TEST(broken_by({}).size() == 1U);
}
