// Members of sorted sets.

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::memory;

BOOST_AUTO_TEST_SUITE(memory_commands_sorted_sets_test)

BOOST_AUTO_TEST_CASE(members_have_a_score_and_a_place) {
    asking it;
    BOOST_TEST(it.ask({"ZADD", "a", "2", "x", "1", "y"}) == number(2));
    BOOST_TEST(it.ask({"ZADD", "a", "NX", "9", "x"}) == number(0));
    BOOST_TEST(it.ask({"ZADD", "a", "GT", "CH", "3", "x"}) == number(1));
    BOOST_TEST(it.ask({"ZADD", "a", "NX", "GT", "1", "x"}).text.starts_with("ERR GT, LT"));
    BOOST_TEST(it.ask({"ZSCORE", "a", "x"}) == value::real("3"));
    BOOST_TEST(it.ask({"ZRANK", "a", "x"}) == number(1));
    BOOST_TEST(it.ask({"ZREVRANK", "a", "x"}) == number(0));
    BOOST_TEST(it.ask({"ZINCRBY", "a", "1.5", "y"}) == value::real("2.5"));
    BOOST_TEST(it.ask({"ZCARD", "a"}) == number(2));
    BOOST_TEST(it.ask({"ZREM", "a", "x", "y"}) == number(2));
    BOOST_TEST(it.ask({"EXISTS", "a"}) == number(0));
}

BOOST_AUTO_TEST_SUITE_END()
