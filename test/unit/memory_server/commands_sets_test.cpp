// Sets.

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::memory;

BOOST_AUTO_TEST_SUITE(memory_commands_sets_test)

BOOST_AUTO_TEST_CASE(members_are_there_once) {
    asking it;
    BOOST_TEST(it.ask({"SADD", "a", "x", "y", "x"}) == number(2));
    BOOST_TEST(it.ask({"SADD", "a", "x"}) == number(0));
    BOOST_TEST(it.ask({"SISMEMBER", "a", "x"}) == number(1));
    BOOST_TEST(it.ask({"SCARD", "a"}) == number(2));
    BOOST_TEST(it.ask({"SMEMBERS", "a"}) == value::set({text("x"), text("y")}));
    BOOST_TEST(it.ask({"SREM", "a", "x", "y"}) == number(2));
    BOOST_TEST(it.ask({"EXISTS", "a"}) == number(0));
}

BOOST_AUTO_TEST_SUITE_END()
