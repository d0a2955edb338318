// What is on a server in memory, and what somebody else does to it.

#include "memory_server/server.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using holdfast::memory::server;

BOOST_AUTO_TEST_SUITE(memory_server_test)

BOOST_AUTO_TEST_CASE(anothers_lock_is_taken_for_a_while_and_given_back) {
    auto const it = server::make();
    it->lock_as_other("a", 10s);
    BOOST_TEST(it->exists("a"));
    BOOST_TEST(it->hgetall("a").size() == 1U);
    BOOST_TEST(it->pttl("a") > 5'000);
    BOOST_TEST(it->lock_keys() == std::vector<std::string>{"a"});
    it->unlock_as_other("a");
    BOOST_TEST(it->pttl("a") == -2);
}

BOOST_AUTO_TEST_CASE(token_counters_are_no_locks) {
    auto const it = server::make();
    it->set("redisson_lock_token:{a}", "7");
    it->hset("a", "id:1", "1");
    BOOST_TEST(it->keys().size() == 2U);
    BOOST_TEST(it->lock_keys() == std::vector<std::string>{"a"});
    it->pexpire("a", 0ms);
    BOOST_TEST(it->lock_keys().empty());
}

BOOST_AUTO_TEST_SUITE_END()
