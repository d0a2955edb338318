// What a single event breaks, and histories that cannot have happened. Every rule has a history
// that keeps it, and one that breaks it.
#include "soak/record.hpp"

#include "soak/written_history.hpp"

#include <boost/test/unit_test.hpp>

#include <utility>

using namespace holdfast::soak;

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

BOOST_AUTO_TEST_CASE(a_lease_that_is_valid_after_its_end_breaks_validity) {
    for (auto const& [looked, fine] : {std::pair{709, true}, std::pair{710, false}}) {
        history all;
        auto op = all.op(1, 1);
        op.invoke(1).granted(10, 5, 1010).says(looked, happening::looked).releasing(800);
        all.events[2].deadline = at_ms(1010);
        if (fine) {
            keeps_all_rules(all);
        } else {
            breaks(all, rule::validity);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_lease_that_is_short_from_the_beginning_is_valid_until_the_same_part_of_it) {
    for (auto const& [looked, fine] : {std::pair{859, true}, std::pair{860, false}}) {
        history all;
        auto op = all.op(1, 1);
        op.invoke(1).granted(510, 5, 1010).says(looked, happening::looked).releasing(900);
        all.events[2].deadline = at_ms(1010);
        if (fine) {
            keeps_all_rules(all);
        } else {
            breaks(all, rule::validity);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_worker_may_not_keep_its_own_event_loop_busy) {
    for (auto const& [busy_ms, fine] : {std::pair{159, true}, std::pair{160, false}}) {
        history all;
        all.span(happening::stalled, 100, 300, 1);
        all.events.back().limit = at_ms(busy_ms);
        all.span(happening::stalled, 400, 599, 1);
        all.events.back().limit = at_ms(199);
        if (fine) {
            keeps_all_rules(all);
        } else {
            breaks(all, rule::survival);
        }
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
        history all;
        all.conductor(5, what, 1);
        breaks(all, expected);
    }
}

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

BOOST_AUTO_TEST_CASE(a_deadline_of_a_quorum_moves_back_when_a_node_is_lost) {
    history all;
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
