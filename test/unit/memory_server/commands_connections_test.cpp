// Log-in, and what belongs to one connection.

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::memory;

BOOST_AUTO_TEST_SUITE(memory_commands_connections_test)

BOOST_AUTO_TEST_CASE(a_connection_has_a_name_and_a_database) {
    asking it;
    BOOST_TEST(it.ask({"CLIENT", "GETNAME"}) == none);
    BOOST_TEST(it.ask({"CLIENT", "SETNAME", "me"}) == ok);
    BOOST_TEST(it.ask({"CLIENT", "GETNAME"}) == text("me"));
    BOOST_TEST(it.ask({"SELECT", "16"}).text.starts_with("ERR DB index"));
    BOOST_TEST(it.ask({"SELECT", "3"}) == ok);
    BOOST_TEST(it.ask({"SET", "a", "1"}) == ok);
    BOOST_TEST(it.server.exists("a", 3));
    BOOST_TEST(it.ask({"RESET"}) == value::status("RESET"));
    BOOST_TEST(it.ask({"PING", "x"}) == text("x"));
}

BOOST_AUTO_TEST_CASE(a_wrong_password_is_refused) {
    asking it;
    it.server.set_user("me", {.password = "right"});
    BOOST_TEST(it.ask({"AUTH", "me", "wrong"}).text.starts_with("WRONGPASS"));
    BOOST_TEST(it.ask({"AUTH", "me", "right"}) == ok);
    BOOST_TEST(it.ask({"HELLO", "4"}).text.starts_with("NOPROTO"));
    BOOST_TEST(it.ask({"HELLO", "3", "SETNAME", "a b"}).text.starts_with("ERR Client names"));
}

BOOST_AUTO_TEST_SUITE_END()
