// What goes on from one history to the next. Every rule has a history that keeps it, and one that
// breaks it.
#include "soak/checker.hpp"

#include "soak/written_history.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <vector>

using namespace holdfast::soak;

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
