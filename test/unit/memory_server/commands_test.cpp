// What commands have in common.

#include "memory_server/commands.hpp"

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace holdfast::memory;

BOOST_AUTO_TEST_SUITE(memory_commands_test)

BOOST_AUTO_TEST_CASE(numbers_are_those_that_the_server_itself_would_write) {
    BOOST_TEST(to_integer("-7").value() == -7);
    for (auto const* const one : {"", "+7", "07", "7 ", "-0", "9223372036854775808"}) {
        BOOST_TEST(!to_integer(one), one);
    }
    BOOST_TEST(to_double("1e3").value() == 1000);
    BOOST_TEST(!to_double("nan"));
}

BOOST_AUTO_TEST_CASE(patterns_match_as_the_server_has_it) {
    BOOST_TEST(matches("a*c", "abbc"));
    BOOST_TEST(matches("a?c", "abc"));
    BOOST_TEST(matches("[a-c]x", "bx"));
    BOOST_TEST(!matches("[^a-c]x", "bx"));
    BOOST_TEST(matches("\\*", "*"));
    BOOST_TEST(!matches("\\*", "a"));
}

BOOST_AUTO_TEST_CASE(commands_are_looked_up_in_any_case) {
    asking it;
    BOOST_TEST(it.ask({"pInG"}) == value::status("PONG"));
    BOOST_TEST(it.ask({"NONE", "a"}).text.starts_with("ERR unknown command 'NONE'"));
    BOOST_TEST(it.ask({"CLIENT", "NONE"}).text.starts_with("ERR unknown subcommand 'NONE'"));
    BOOST_TEST(it.ask({"GET"}).text.starts_with("ERR wrong number of arguments for 'get'"));
}

BOOST_AUTO_TEST_CASE(rights_are_judged_by_command_key_and_channel) {
    asking it;
    it.server.set_user(
        "default",
        {.denied_commands = {"get"}, .keys = {{"a*"}}, .channels = std::vector<std::string>{"c"}}
    );
    BOOST_TEST(it.ask({"GET", "a"}).text.starts_with("NOPERM"));
    BOOST_TEST(it.ask({"SET", "ab", "1"}) == ok);
    BOOST_TEST(it.ask({"SET", "b", "1"}).text.starts_with("NOPERM"));
    BOOST_TEST(it.ask({"PUBLISH", "c", "x"}) == number(0));
    BOOST_TEST(it.ask({"PUBLISH", "d", "x"}).text.starts_with("NOPERM"));
    BOOST_TEST(it.eval("return redis.call('GET', 'a')").is_error());
}

BOOST_AUTO_TEST_SUITE_END()
