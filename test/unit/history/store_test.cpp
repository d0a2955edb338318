#include "support/history/store.hpp"

#include "support/history/event.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::history;

BOOST_AUTO_TEST_CASE(one_holder_after_the_other_loses_nothing) {
    store all;
    for (int token = 5; token < 10; ++token) {
        auto const seen = all.read(1, token);
        BOOST_TEST(seen.accepted);
        BOOST_TEST(seen.value == token - 5);
        BOOST_TEST(all.write(1, token, seen) == was_accepted);
    }
    BOOST_TEST(all.read(1, 10).unguarded == 5);
}

BOOST_AUTO_TEST_CASE(a_holder_may_write_more_than_once) {
    store all;
    BOOST_TEST(all.write(1, 5, all.read(1, 5)) == was_accepted);
    BOOST_TEST(all.write(1, 5, all.read(1, 5)) == was_accepted);
}

BOOST_AUTO_TEST_CASE(an_old_token_is_refused_once_a_new_one_was_seen) {
    store all;
    auto const old = all.read(1, 5);
    auto const fresh = all.read(1, 6);
    BOOST_TEST(all.write(1, 5, old) == 0);
    // Without the token, the old one's write would be lost.
    BOOST_TEST(all.write(1, 6, fresh) == (was_accepted | undid_without_token));
    BOOST_TEST(!all.read(1, 5).accepted);
    BOOST_TEST(all.read(1, 6).value == 1);
    BOOST_TEST(all.read(1, 6).unguarded == 2);
}

BOOST_AUTO_TEST_CASE(the_same_token_in_two_hands_loses_an_update) {
    store all;
    auto const one = all.read(1, 5);
    auto const other = all.read(1, 5);
    BOOST_TEST(all.write(1, 5, one) == was_accepted);
    BOOST_TEST(all.write(1, 5, other) == (was_accepted | undid_another | undid_without_token));
}

BOOST_AUTO_TEST_CASE(locks_have_nothing_to_do_with_each_other) {
    store all;
    BOOST_TEST(all.read(1, 7).accepted);
    auto const other = all.read(2, 5);
    BOOST_TEST(other.accepted);
    BOOST_TEST(other.value == 0);
}
