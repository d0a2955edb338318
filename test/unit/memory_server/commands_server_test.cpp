// The server itself.

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace holdfast::memory;

BOOST_AUTO_TEST_SUITE(memory_commands_server_test)

BOOST_AUTO_TEST_CASE(the_memory_policy_is_what_the_library_looks_for) {
    asking it;
    BOOST_TEST(it.ask({"INFO", "memory"}).text.find("maxmemory:0\r") != std::string::npos);
    it.server.set_memory_policy(1'000'000, "volatile-ttl");
    auto const text = it.ask({"INFO", "memory"}).text;
    BOOST_TEST(text.find("maxmemory:1000000\r") != std::string::npos);
    BOOST_TEST(text.find("maxmemory_policy:volatile-ttl\r") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_time_is_that_of_its_clock) {
    asking it;
    it.server.set_time(asking::start + 7);
    BOOST_TEST(it.ask({"TIME"}) == texts({"1700000000", "7"}));
}

BOOST_AUTO_TEST_CASE(a_replica_says_so) {
    asking it;
    BOOST_TEST(it.ask({"ROLE"}).elements.front() == text("master"));
    it.server.set_refusal(refusal::read_only);
    BOOST_TEST(it.ask({"ROLE"}).elements.front() == text("slave"));
    BOOST_TEST(it.ask({"INFO", "replication"}).text.find("role:slave") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(data_are_counted_listed_and_flushed) {
    asking it;
    BOOST_TEST(it.ask({"MSET", "a", "1", "b", "2"}) == ok);
    BOOST_TEST(it.ask({"DBSIZE"}) == number(2));
    BOOST_TEST(it.ask({"KEYS", "a*"}) == texts({"a"}));
    BOOST_TEST(it.ask({"FLUSHALL", "x"}).text.starts_with("ERR syntax"));
    BOOST_TEST(it.ask({"FLUSHDB"}) == ok);
    BOOST_TEST(it.ask({"DBSIZE"}) == number(0));
    BOOST_TEST(it.ask({"WAIT", "1", "0"}) == number(0));
}

BOOST_AUTO_TEST_SUITE_END()
