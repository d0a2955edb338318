// What all types of keys have in common.

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::memory;

BOOST_AUTO_TEST_SUITE(memory_commands_keys_test)

BOOST_AUTO_TEST_CASE(keys_end_and_may_be_kept) {
    asking it;
    BOOST_TEST(it.ask({"PEXPIRE", "a", "5"}) == number(0));
    BOOST_TEST(it.ask({"SET", "a", "1"}) == ok);
    BOOST_TEST(it.ask({"PTTL", "a"}) == number(-1));
    BOOST_TEST(it.ask({"PTTL", "b"}) == number(-2));
    BOOST_TEST(it.ask({"PEXPIRE", "a", "5000"}) == number(1));
    BOOST_TEST(it.ask({"PEXPIRE", "a", "6000", "NX"}) == number(0));
    BOOST_TEST(it.ask({"PEXPIRE", "a", "4000", "GT"}) == number(0));
    BOOST_TEST(it.ask({"PEXPIRE", "a", "6000", "GT"}) == number(1));
    BOOST_TEST(it.ask({"TTL", "a"}) == number(6));
    BOOST_TEST(it.ask({"PEXPIRE", "a", "1", "GT", "LT"}).text.starts_with("ERR GT and LT"));
    BOOST_TEST(it.ask({"PERSIST", "a"}) == number(1));
    BOOST_TEST(it.ask({"PTTL", "a"}) == number(-1));
    BOOST_TEST(it.ask({"PEXPIRE", "a", "-1"}) == number(1));
    BOOST_TEST(it.ask({"EXISTS", "a"}) == number(0));
}

BOOST_AUTO_TEST_CASE(keys_are_moved_and_removed) {
    asking it;
    BOOST_TEST(it.ask({"RENAME", "a", "b"}).text.starts_with("ERR no such key"));
    BOOST_TEST(it.ask({"HSET", "a", "f", "1"}) == number(1));
    BOOST_TEST(it.ask({"RENAME", "a", "b"}) == ok);
    BOOST_TEST(it.ask({"TYPE", "b"}) == value::status("hash"));
    BOOST_TEST(it.ask({"TYPE", "a"}) == value::status("none"));
    BOOST_TEST(it.ask({"DEL", "a", "b"}) == number(1));
}

BOOST_AUTO_TEST_SUITE_END()
