// Replies as scripts see them, and what becomes of what they return.

#include "memory_server/lua_values.hpp"

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::memory;

BOOST_AUTO_TEST_SUITE(memory_lua_values_test)

BOOST_AUTO_TEST_CASE(numbers_lose_their_fractions_and_lists_end_at_the_first_nil) {
    asking it;
    BOOST_TEST(it.eval(R"(return 3.9)") == number(3));
    BOOST_TEST(it.eval(R"(return {1, nil, 3})") == value::array({number(1)}));
    BOOST_TEST(it.eval(R"(return true)") == number(1));
    BOOST_TEST(it.eval(R"(return false)") == none);
    BOOST_TEST(it.eval(R"(return {ok = 'FINE'})") == value::status("FINE"));
    BOOST_TEST(it.eval(R"(return {err = 'MINE x'})") == value::error("MINE x"));
}

BOOST_AUTO_TEST_CASE(replies_become_lua_values) {
    asking it;
    BOOST_TEST(it.eval(R"(return type(redis.call('GET', 'a')))") == text("boolean"));
    BOOST_TEST(it.eval(R"(return redis.call('SET', 'a', 'x').ok)") == text("OK"));
    BOOST_TEST(it.eval(R"(redis.setresp(3) return type(redis.call('GET', 'b')))") == text("nil"));
    BOOST_TEST(
        it.eval(R"(redis.setresp(3) return redis.call('HGETALL', 'b').map)") == value::array()
    );
}

BOOST_AUTO_TEST_SUITE_END()
