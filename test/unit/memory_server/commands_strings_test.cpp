// Strings.

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::memory;

BOOST_AUTO_TEST_SUITE(memory_commands_strings_test)

BOOST_AUTO_TEST_CASE(set_has_options) {
    asking it;
    BOOST_TEST(it.ask({"SET", "a", "1", "NX"}) == ok);
    BOOST_TEST(it.ask({"SET", "a", "2", "NX"}) == none);
    BOOST_TEST(it.ask({"SET", "a", "2", "XX", "GET"}) == text("1"));
    BOOST_TEST(it.ask({"SET", "a", "3", "PX", "500", "KEEPTTL"}).text.starts_with("ERR syntax"));
    BOOST_TEST(
        it.ask({"SET", "a", "3", "PX", "0"}).text.starts_with("ERR invalid expire time in 'set'")
    );
    BOOST_TEST(it.ask({"SET", "a", "3", "EX", "5"}) == ok);
    BOOST_TEST(it.ask({"SET", "a", "4", "KEEPTTL"}) == ok);
    BOOST_TEST(it.ask({"PTTL", "a"}) == number(5000));
    BOOST_TEST(it.ask({"GET", "a"}) == text("4"));
    BOOST_TEST(it.ask({"PSETEX", "a", "7", "x"}) == ok);
    BOOST_TEST(it.ask({"SETNX", "a", "y"}) == number(0));
}

BOOST_AUTO_TEST_CASE(numbers_are_added_to) {
    asking it;
    BOOST_TEST(it.ask({"INCR", "a"}) == number(1));
    BOOST_TEST(it.ask({"INCRBY", "a", "9"}) == number(10));
    BOOST_TEST(it.ask({"DECRBY", "a", "3"}) == number(7));
    BOOST_TEST(it.ask({"DECR", "a"}) == number(6));
    BOOST_TEST(it.ask({"APPEND", "a", "x"}) == number(2));
    BOOST_TEST(it.ask({"INCR", "a"}).text.starts_with("ERR value is not an integer"));
    BOOST_TEST(it.ask({"SET", "a", "9223372036854775807"}) == ok);
    BOOST_TEST(it.ask({"INCR", "a"}).text.starts_with("ERR increment or decrement would overflow"));
    BOOST_TEST(it.ask({"STRLEN", "a"}) == number(19));
    BOOST_TEST(it.ask({"GETDEL", "a"}) == text("9223372036854775807"));
    BOOST_TEST(it.ask({"GETSET", "a", "b"}) == none);
    BOOST_TEST(it.ask({"MGET", "a", "c"}) == value::array({text("b"), none}));
}

BOOST_AUTO_TEST_SUITE_END()
