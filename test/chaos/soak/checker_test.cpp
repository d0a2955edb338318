// Every rule against a history that keeps it, and one that breaks it.
#include "soak/checker.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

using namespace holdfast::soak;

namespace holdfast::soak {

std::ostream& operator<<(std::ostream& out, rule broken) {
    return out << name_of(broken);
}

}  // namespace holdfast::soak

namespace {

constexpr std::int64_t unlimited = -1;

constexpr instant ms(std::int64_t count) {
    return count * 1'000'000;
}

// One operation of a worker on lock 0. Times are in ms; the lease is 1000 ms, of which 300 lie
// between the loss and the deadline, and the drift is 0.
class told_by {
public:
    told_by(std::vector<event>& into, std::int64_t process, std::int64_t op, std::int64_t owner = 0)
        : into_{into},
          process_{process},
          op_{op},
          owner_{owner} {}

    told_by& invoke(std::int64_t at, std::int64_t limit = unlimited) {
        auto& e = add(at, happening::invoke);
        e.limit = limit == unlimited ? unlimited : ms(limit);
        e.owner = owner_;
        return *this;
    }
    told_by& granted(std::int64_t at, std::int64_t token, std::int64_t deadline) {
        token_ = token;
        auto& e = add(at, happening::granted);
        e.token = token;
        e.deadline = ms(deadline);
        deadline_ = deadline;
        return *this;
    }
    told_by& moved(std::int64_t at, std::int64_t deadline) {
        add(at, happening::moved).deadline = ms(deadline);
        deadline_ = deadline;
        return *this;
    }
    told_by& says(std::int64_t at, happening what, std::string word = {}) {
        add(at, what).word = std::move(word);
        return *this;
    }
    told_by& releasing(std::int64_t at) {
        add(at, happening::releasing).deadline = ms(deadline_);
        return *this;
    }
    told_by& released(std::int64_t at) { return says(at, happening::released, "ok"); }
    told_by& uses(std::int64_t at, happening what, std::int64_t flags = was_accepted) {
        auto& e = add(at, what);
        e.token = token_;
        e.flags = flags;
        return *this;
    }
    // Granted, used and released.
    told_by& whole(std::int64_t from, std::int64_t to, std::int64_t token) {
        return invoke(from - 1)
            .granted(from, token, from + 1000)
            .uses(from, happening::read)
            .uses(to - 1, happening::written)
            .releasing(to)
            .released(to + 1);
    }

private:
    event& add(std::int64_t at, happening what) {
        into_.push_back(
            {.at = ms(at), .what = what, .process = process_, .op = op_, .lock = 0, .word = {}}
        );
        return into_.back();
    }

    std::vector<event>& into_;
    std::int64_t process_;
    std::int64_t op_;
    std::int64_t owner_;
    std::int64_t token_ = 0;
    std::int64_t deadline_ = 0;
};

struct history {
    std::vector<event> events;

    told_by op(std::int64_t process, std::int64_t number, std::int64_t owner = 0) {
        return {events, process, number, owner};
    }
    void conductor(std::int64_t at, happening what, std::int64_t process = 0) {
        events.push_back({.at = ms(at), .what = what, .process = process, .word = "something"});
    }
    void span(happening what, std::int64_t since, std::int64_t to, std::int64_t process = 0) {
        events.push_back(
            {.at = ms(to), .what = what, .process = process, .since = ms(since), .word = {}}
        );
    }
};

rules const by{
    .lease = std::chrono::milliseconds{1000},
    .loss_margin = std::chrono::milliseconds{300},
    .grant_within = std::chrono::milliseconds{6000},
    .hand_over_within = std::chrono::milliseconds{700},
    .renew_within = std::chrono::milliseconds{160},
    .release_within = std::chrono::milliseconds{330},
    .slack = std::chrono::milliseconds{1000},
    .time_to_tell = std::chrono::milliseconds{100},
    .longest_block = std::chrono::milliseconds{200},
};

std::vector<rule> broken_rules(findings const& found) {
    std::vector<rule> broken;
    for (auto const& v : found.violations) {
        BOOST_TEST_MESSAGE(v.text);
        broken.push_back(v.broken);
    }
    return broken;
}

findings check(history& all) {
    return checker{by}.check(all.events);
}

void keeps_all_rules(history& all) {
    BOOST_TEST(broken_rules(check(all)).empty());
}

void breaks(history& all, rule expected) {
    std::vector<rule> const only{expected};
    BOOST_TEST(broken_rules(check(all)) == only, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_CASE(one_after_the_other_is_fine) {
    history all;
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

// exclusion

BOOST_AUTO_TEST_CASE(two_who_believe_at_a_time_break_exclusion) {
    history all;
    all.op(1, 1).whole(10, 30, 5);
    all.op(2, 1).whole(29, 40, 6);
    auto const found = check(all);
    BOOST_TEST(found.counts.overlaps == 1);
    BOOST_REQUIRE(!found.violations.empty());
    BOOST_TEST(found.violations[0].broken == rule::exclusion);
    BOOST_TEST(found.violations[0].at == ms(29));
}

BOOST_AUTO_TEST_CASE(an_overlap_is_found_behind_a_third_one) {
    history all;
    all.op(1, 1).invoke(1).granted(10, 5, 1010).releasing(100).released(101);
    all.op(2, 1).invoke(1).granted(20, 6, 1020).releasing(30).released(31);
    all.op(3, 1).invoke(1).granted(50, 7, 1050).releasing(60).released(61);
    BOOST_TEST(check(all).counts.overlaps == 2);
}

BOOST_AUTO_TEST_CASE(a_lease_that_was_lost_is_believed_in_no_more) {
    history all;
    all.op(1, 1).invoke(1).granted(10, 5, 1010).says(700, happening::lost).releasing(705);
    all.op(2, 1).whole(710, 720, 6);
    keeps_all_rules(all);
}

BOOST_AUTO_TEST_CASE(validity_ends_by_the_clock_also_for_one_who_was_stopped) {
    history all;
    all.op(1, 1).invoke(1).granted(10, 5, 1010).says(3000, happening::lost).releasing(3001);
    all.span(happening::paused, 100, 2990, 1);
    all.op(2, 1).whole(1011, 1020, 6);
    auto const found = check(all);
    BOOST_TEST(broken_rules(found).empty());
    BOOST_TEST(found.counts.excused == 1);
}

BOOST_AUTO_TEST_CASE(a_dead_process_believes_nothing) {
    history all;
    all.op(1, 1).invoke(1).granted(10, 5, 1010).moved(400, 1400);
    all.conductor(500, happening::killed, 1);
    all.op(2, 1).whole(1410, 1420, 6);
    keeps_all_rules(all);
}

BOOST_AUTO_TEST_CASE(leases_of_one_owner_are_one_grant) {
    history all;
    all.op(1, 1, 77).invoke(1).granted(10, 5, 1010).releasing(30).released(31);
    all.op(1, 2, 77).invoke(12).granted(15, 5, 1010).releasing(25).released(26);
    keeps_all_rules(all);
    all.op(2, 1).whole(28, 40, 6);
    BOOST_TEST(check(all).counts.overlaps == 1);
}

BOOST_AUTO_TEST_CASE(an_overlap_after_a_loss_of_data_is_explained) {
    history all;
    all.op(1, 1).invoke(1).granted(10, 5, 1010).says(400, happening::lost).releasing(401);
    all.span(happening::data_lost, 100, 150);
    all.op(2, 1).whole(160, 200, 6);
    auto const found = check(all);
    BOOST_TEST(broken_rules(found).empty());
    BOOST_TEST(found.counts.explained_overlaps == 1);
    BOOST_TEST(found.counts.overlaps == 0);
}

BOOST_AUTO_TEST_CASE(a_loss_of_data_explains_nothing_that_was_granted_after_it_or_before) {
    history after;
    after.span(happening::data_lost, 2, 5);
    after.op(1, 1).whole(10, 30, 5);
    after.op(2, 1).whole(20, 40, 6);
    BOOST_TEST(check(after).counts.overlaps == 1);

    history waited;
    waited.span(happening::data_lost, 2, 5);
    waited.op(1, 1).invoke(1).granted(600, 5, 1600).releasing(630);
    waited.op(2, 1).whole(620, 640, 6);
    BOOST_TEST(check(waited).counts.overlaps == 1);

    history before;
    before.op(1, 1).whole(10, 30, 5);
    before.op(2, 1).whole(20, 40, 6);
    before.span(happening::data_lost, 25, 28);
    BOOST_TEST(check(before).counts.overlaps == 1);
}

BOOST_AUTO_TEST_CASE(a_step_of_the_wall_clock_explains_an_overlap) {
    history all;
    all.op(1, 1).whole(10, 30, 5);
    all.op(2, 1).whole(29, 40, 6);
    all.conductor(15, happening::clock_moved);
    auto const found = check(all);
    BOOST_TEST(broken_rules(found).empty());
    BOOST_TEST(found.counts.explained_overlaps == 1);
}

// deadline

BOOST_AUTO_TEST_CASE(a_grant_before_the_deadline_of_another_breaks_it) {
    for (auto const& [next, fine] : {std::pair{1010, true}, std::pair{1009, false}}) {
        history all;
        all.op(1, 1).invoke(1).granted(10, 5, 1010).says(710, happening::lost).releasing(1100);
        all.op(2, 1).whole(next, 1090, 6);
        if (fine) {
            keeps_all_rules(all);
        } else {
            breaks(all, rule::deadline);
        }
    }
}

BOOST_AUTO_TEST_CASE(the_deadline_of_a_dead_process_stands) {
    history all;
    all.op(1, 1).invoke(1).granted(10, 5, 1010).moved(400, 1400);
    all.conductor(500, happening::killed, 1);
    all.op(2, 1).whole(1300, 1420, 6);
    breaks(all, rule::deadline);
}

BOOST_AUTO_TEST_CASE(a_deadline_does_not_move_back) {
    history all;
    all.op(1, 1)
        .invoke(1)
        .granted(10, 5, 1010)
        .moved(20, 1005)
        .moved(21, 1010)
        .releasing(30)
        .released(31);
    breaks(all, rule::deadline);
}

// data loss

BOOST_AUTO_TEST_CASE(no_lease_is_renewed_after_its_key_was_lost) {
    for (auto const& [renewed_to, fine] : {std::pair{1500, true}, std::pair{1501, false}}) {
        history all;
        all.op(1, 1).invoke(1).granted(10, 5, 1010).moved(600, renewed_to).releasing(700);
        all.span(happening::data_lost, 400, 500);
        all.op(2, 1).invoke(1).granted(705, 6, 1705).releasing(710);
        if (fine) {
            keeps_all_rules(all);
        } else {
            breaks(all, rule::data_loss);
        }
    }
}

// dead on arrival

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

// validity

BOOST_AUTO_TEST_CASE(a_lease_that_is_valid_after_its_end_breaks_validity) {
    for (auto const& [looked, fine] : {std::pair{709, true}, std::pair{710, false}}) {
        history all;
        auto op = all.op(1, 1);
        op.invoke(1).granted(10, 5, 1010).says(looked, happening::looked).releasing(800);
        all.events[2].deadline = ms(1010);
        if (fine) {
            keeps_all_rules(all);
        } else {
            breaks(all, rule::validity);
        }
    }
}

// tokens

BOOST_AUTO_TEST_CASE(a_later_grant_with_a_smaller_token_breaks_the_order) {
    history all;
    all.op(1, 1).invoke(1).granted(10, 6, 1010).releasing(20).released(21);
    all.op(2, 1).invoke(22).granted(30, 5, 1030).releasing(40).released(41);
    breaks(all, rule::token_order);
}

BOOST_AUTO_TEST_CASE(tokens_go_on_over_histories) {
    checker by_turns{by};
    history first;
    first.op(1, 1).whole(10, 20, 5);
    BOOST_TEST(broken_rules(by_turns.check(first.events)).empty());
    history second;
    second.op(1, 2).invoke(31).granted(32, 5, 1032).releasing(40).released(41);
    std::vector<rule> const order{rule::token_order};
    BOOST_TEST(
        broken_rules(by_turns.check(second.events)) == order,
        boost::test_tools::per_element()
    );
}

BOOST_AUTO_TEST_CASE(tokens_grow_over_a_loss_of_data) {
    history all;
    all.op(1, 1).invoke(1).granted(10, 6, 1010).releasing(20).released(21);
    all.span(happening::data_lost, 600, 700);
    all.op(2, 1).invoke(705).granted(710, 5, 1710).releasing(720).released(721);
    auto const found = check(all);
    // Both were around when the data were lost: nobody can say which was granted first.
    BOOST_TEST(broken_rules(found).empty());

    history apart;
    apart.op(1, 1).invoke(1).granted(10, 6, 1010).releasing(20).released(21);
    apart.op(2, 1).invoke(22).granted(30, 4, 1030).releasing(40).released(41);
    apart.span(happening::data_lost, 600, 700);
    breaks(apart, rule::token_order);
}

BOOST_AUTO_TEST_CASE(a_token_that_was_given_out_twice) {
    history all;
    all.op(1, 1).invoke(1).granted(10, 5, 1010).releasing(20).released(21);
    all.op(2, 1).invoke(22).granted(30, 5, 1030).releasing(40).released(41);
    auto const broken = broken_rules(check(all));
    BOOST_TEST((std::count(broken.begin(), broken.end(), rule::token_reuse) == 1));
}

// the resource

BOOST_AUTO_TEST_CASE(a_stale_token_may_be_offered_but_not_accepted) {
    for (bool const taken : {false, true}) {
        history all;
        auto late = all.op(1, 1);
        late.invoke(1).granted(10, 5, 1010).uses(11, happening::read);
        all.span(happening::paused, 12, 1290, 1);
        all.op(2, 1).whole(1011, 1020, 6);
        late.uses(1300, happening::written, taken ? was_accepted : 0)
            .says(1301, happening::lost)
            .releasing(1302)
            .released(1303);
        if (taken) {
            breaks(all, rule::stale_access);
        } else {
            keeps_all_rules(all);
        }
        auto const found = check(all);
        BOOST_TEST(found.counts.stale_offered == 1);
        BOOST_TEST(found.counts.stale_accepted == (taken ? 1 : 0));
    }
}

BOOST_AUTO_TEST_CASE(what_was_accepted_is_remembered_over_histories) {
    checker by_turns{by};
    history first;
    first.op(1, 1).whole(10, 20, 5);
    BOOST_TEST(broken_rules(by_turns.check(first.events)).empty());
    history second;
    second.op(1, 2).invoke(31).granted(32, 4, 1032).uses(33, happening::read).releasing(40);
    auto const broken = broken_rules(by_turns.check(second.events));
    BOOST_TEST((std::count(broken.begin(), broken.end(), rule::stale_access) == 1));
}

BOOST_AUTO_TEST_CASE(a_lost_update_is_one_with_the_token_only) {
    for (auto const flags : {undid_without_token, undid_another}) {
        history all;
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

// told in time

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

// progress

BOOST_AUTO_TEST_CASE(who_waits_too_long_after_the_fault_breaks_progress) {
    for (auto const& [granted, fine] : {std::pair{8000, true}, std::pair{8001, false}}) {
        history all;
        all.op(1, 1).invoke(1).granted(granted, 5, granted + 1000).releasing(granted + 1);
        all.conductor(500, happening::fault);
        all.conductor(2000, happening::healed);
        if (fine) {
            keeps_all_rules(all);
            BOOST_TEST(check(all).counts.slowest_recovery.count() == ms(6000));
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

// hand-over

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
        history all;
        all.conductor(c.calm, happening::calm);
        all.op(1, 1).whole(10, 20, 5);
        all.op(2, 1).invoke(c.asked).granted(c.granted, 6, c.granted + 1000).releasing(730);
        if (c.fine) {
            keeps_all_rules(all);
        } else {
            breaks(all, rule::hand_over);
        }
    }
}

BOOST_AUTO_TEST_CASE(nobody_waits_who_was_stopped_or_when_the_release_was_not_answered) {
    history stopped;
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

// promptness

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

// survival

BOOST_AUTO_TEST_CASE(a_worker_may_not_keep_its_own_event_loop_busy) {
    for (auto const& [busy_ms, fine] : {std::pair{159, true}, std::pair{160, false}}) {
        history all;
        all.span(happening::stalled, 100, 300, 1);
        all.events.back().limit = ms(busy_ms);
        all.span(happening::stalled, 400, 599, 1);
        all.events.back().limit = ms(199);
        if (fine) {
            keeps_all_rules(all);
        } else {
            breaks(all, rule::survival);
        }
    }
}

// what only the conductor sees

BOOST_AUTO_TEST_CASE(what_the_conductor_says_is_a_violation) {
    std::pair<happening, rule> const all_of_them[] = {
        {happening::unclean, rule::clean_start},
        {happening::left_behind, rule::nothing_left},
        {happening::stuck, rule::survival},
        {happening::died, rule::survival},
    };
    for (auto const& [what, expected] : all_of_them) {
        history all;
        all.conductor(5, what, 1);
        breaks(all, expected);
    }
}

// malformed

BOOST_AUTO_TEST_CASE(a_history_that_cannot_be_is_no_proof) {
    history twice;
    twice.op(1, 1).invoke(1).invoke(2).says(3, happening::failed, "x");
    breaks(twice, rule::malformed);

    history two_leases;
    two_leases.op(1, 1).invoke(1).granted(2, 5, 1002).granted(3, 5, 1002).releasing(4);
    breaks(two_leases, rule::malformed);

    history from_nowhere;
    from_nowhere.op(1, 1).granted(2, 5, 1002);
    breaks(from_nowhere, rule::malformed);

    history end_after_lease;
    end_after_lease.op(1, 1)
        .invoke(1)
        .granted(2, 5, 1002)
        .says(3, happening::failed, "x")
        .releasing(4);
    breaks(end_after_lease, rule::malformed);

    history release_of_nothing;
    release_of_nothing.op(1, 1).invoke(1).says(3, happening::failed, "x").releasing(4);
    breaks(release_of_nothing, rule::malformed);

    history answer_to_nothing;
    answer_to_nothing.op(1, 1).invoke(1).granted(2, 5, 1002).released(4).releasing(5);
    breaks(answer_to_nothing, rule::malformed);

    history unknown_user;
    unknown_user.op(1, 1).uses(5, happening::read);
    auto of_the_dead = unknown_user;
    breaks(unknown_user, rule::malformed);
    of_the_dead.conductor(1, happening::killed, 1);
    keeps_all_rules(of_the_dead);
}
