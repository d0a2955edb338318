// Sorted sets by rank and by score.

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::memory;

BOOST_AUTO_TEST_SUITE(memory_commands_sorted_set_ranges_test)

BOOST_AUTO_TEST_CASE(ranges_are_by_rank_or_by_score) {
    asking it;
    BOOST_TEST(it.ask({"ZADD", "a", "1", "x", "2", "y", "3", "z"}) == number(3));
    BOOST_TEST(it.ask({"ZRANGE", "a", "0", "-1"}) == texts({"x", "y", "z"}));
    BOOST_TEST(it.ask({"ZREVRANGE", "a", "0", "0"}) == texts({"z"}));
    BOOST_TEST(it.ask({"ZRANGEBYSCORE", "a", "(1", "+inf", "LIMIT", "0", "1"}) == texts({"y"}));
    BOOST_TEST(it.ask({"ZRANGE", "a", "0", "1", "LIMIT", "0", "1"})
                   .text.starts_with("ERR syntax error, LIMIT"));
    BOOST_TEST(it.ask({"ZCOUNT", "a", "2", "x"}).text.starts_with("ERR min or max"));
    BOOST_TEST(it.ask({"ZCOUNT", "a", "2", "3"}) == number(2));
    BOOST_TEST(it.ask({"ZPOPMIN", "a"}) == value::array({text("x"), value::real("1")}));
    BOOST_TEST(it.ask({"ZREMRANGEBYSCORE", "a", "2", "2"}) == number(1));
    BOOST_TEST(it.ask({"ZREMRANGEBYRANK", "a", "0", "-1"}) == number(1));
    BOOST_TEST(it.ask({"EXISTS", "a"}) == number(0));
}

BOOST_AUTO_TEST_SUITE_END()
