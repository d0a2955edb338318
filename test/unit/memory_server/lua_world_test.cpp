// What a script can reach, and what it cannot change.

#include "memory_server/lua_world.hpp"

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::memory;

BOOST_AUTO_TEST_SUITE(memory_lua_world_test)

// All models of a thread share an interpreter.
BOOST_AUTO_TEST_CASE(a_script_leaves_nothing_for_the_next_world) {
    for (int i = 0; i < 2; ++i) {
        asking it;
        for (auto const* const attempt :
             {"x = 1",
              "_G.x = 1",
              "rawset(_G, 'x', 1)",
              "string.x = 1",
              "rawset(string, 'x', 1)",
              "redis.x = 1",
              "getmetatable(_G).__index.x = 1",
              "setmetatable(_G, {})",
              "getmetatable('').__index.x = 1",
              "setfenv(1, {})"}) {
            BOOST_TEST(it.ask({"EVAL", attempt, "0"}).is_error(), attempt);
        }
        BOOST_TEST(it.ask({"EVAL", "return x", "0"}).is_error());
        BOOST_TEST((it.ask({"EVAL", "return string.x", "0"}) == value::nil()));
        it.ask({"EVAL", "return 1", "1", "a key", "an argument"});
        BOOST_TEST(
            (it.ask({"EVAL", "return {#KEYS, #ARGV}", "0"}) ==
             value::array({value::integer(0), value::integer(0)}))
        );
    }
}

BOOST_AUTO_TEST_SUITE_END()
