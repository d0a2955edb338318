// Hashes.

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::memory;

BOOST_AUTO_TEST_SUITE(memory_commands_hashes_test)

BOOST_AUTO_TEST_CASE(fields_are_set_read_and_removed) {
    asking it;
    BOOST_TEST(it.ask({"HSET", "a", "f", "1", "g", "2"}) == number(2));
    BOOST_TEST(it.ask({"HGET", "a", "f"}) == text("1"));
    BOOST_TEST(it.ask({"HEXISTS", "a", "h"}) == number(0));
    BOOST_TEST(it.ask({"HINCRBY", "a", "f", "4"}) == number(5));
    BOOST_TEST(
        it.ask({"HGETALL", "a"}) == value::map({text("f"), text("5"), text("g"), text("2")})
    );
    BOOST_TEST(it.ask({"HLEN", "a"}) == number(2));
    BOOST_TEST(it.ask({"GET", "a"}).text.starts_with("WRONGTYPE"));
    BOOST_TEST(it.ask({"HDEL", "a", "f", "g", "h"}) == number(2));
    BOOST_TEST(it.ask({"EXISTS", "a"}) == number(0));
}

BOOST_AUTO_TEST_SUITE_END()
