// EVAL, EVALSHA and SCRIPT.

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::memory;

BOOST_AUTO_TEST_SUITE(memory_commands_scripting_test)

BOOST_AUTO_TEST_CASE(a_script_is_known_once_it_has_run) {
    asking it;
    BOOST_TEST(it.ask({"EVALSHA", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "0"})
                   .text.starts_with("NOSCRIPT"));
    BOOST_TEST(it.eval(R"(return 1)") == number(1));
    BOOST_TEST(it.ask({"EVALSHA", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "0"}) == number(1));
    BOOST_TEST(
        it.ask({"SCRIPT", "EXISTS", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"}) ==
        value::array({number(1)})
    );
    BOOST_TEST(it.ask({"SCRIPT", "FLUSH"}) == ok);
    BOOST_TEST(
        it.ask({"SCRIPT", "EXISTS", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"}) ==
        value::array({number(0)})
    );
    BOOST_TEST(it.ask({"EVAL", "x", "-1"}).text.starts_with("ERR Number of keys can't be negative")
    );
    BOOST_TEST(it.ask({"EVAL", "x", "1"}).text.starts_with("ERR Number of keys can't be greater"));
}

BOOST_AUTO_TEST_CASE(a_read_only_script_writes_nothing) {
    asking it;
    BOOST_TEST(it.ask({"EVAL_RO", "redis.call('SET','a','1')", "0"})
                   .text.starts_with("ERR Write commands are not allowed"));
    BOOST_TEST(it.ask({"EXISTS", "a"}) == number(0));
}

BOOST_AUTO_TEST_CASE(a_script_that_runs_for_ever_is_killed) {
    asking it;
    it.server.set_refusal(refusal::busy);
    BOOST_TEST(it.ask({"PING"}).text.starts_with("BUSY"));
    BOOST_TEST(it.ask({"SCRIPT", "KILL"}) == ok);
    BOOST_TEST(it.ask({"SCRIPT", "KILL"}).text.starts_with("NOTBUSY"));
}

BOOST_AUTO_TEST_SUITE_END()
