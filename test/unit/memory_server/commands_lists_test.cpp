// Lists.

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::memory;

BOOST_AUTO_TEST_SUITE(memory_commands_lists_test)

BOOST_AUTO_TEST_CASE(elements_go_in_and_out_at_both_ends) {
    asking it;
    BOOST_TEST(it.ask({"RPUSH", "a", "1", "2"}) == number(2));
    BOOST_TEST(it.ask({"LPUSH", "a", "0"}) == number(3));
    BOOST_TEST(it.ask({"LRANGE", "a", "0", "-1"}) == texts({"0", "1", "2"}));
    BOOST_TEST(it.ask({"LINDEX", "a", "-1"}) == text("2"));
    BOOST_TEST(it.ask({"LREM", "a", "0", "1"}) == number(1));
    BOOST_TEST(it.ask({"LPOP", "a"}) == text("0"));
    BOOST_TEST(it.ask({"RPOP", "a"}) == text("2"));
    BOOST_TEST(it.ask({"EXISTS", "a"}) == number(0));
}

BOOST_AUTO_TEST_SUITE_END()
