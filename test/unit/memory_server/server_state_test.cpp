// Keys and their ends.

#include "memory_server/server_state.hpp"

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace holdfast::memory;

namespace {

constexpr auto ms = asking::ms;
constexpr auto start = asking::start;

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_server_state_test)

BOOST_AUTO_TEST_CASE(a_key_is_there_in_its_last_millisecond_and_not_in_the_next) {
    asking it;
    it.ask({"SET", "a", "1", "PX", "1000"});
    it.ask({"SET", "b", "1"});
    it.server.set_time(start + 1'000 * ms + 999);
    BOOST_TEST((it.ask({"PTTL", "a"}) == value::integer(0)));
    BOOST_TEST(it.server.pttl("a") == 0);
    it.server.set_time(start + 1'001 * ms);
    BOOST_TEST((it.ask({"PTTL", "a"}) == value::integer(-2)));
    BOOST_TEST(it.server.pttl("a") == -2);
    BOOST_TEST(it.server.keys() == std::vector<std::string>{"b"});
}

BOOST_AUTO_TEST_CASE(what_has_ended_stays_gone_when_the_clock_steps_back) {
    asking it;
    it.ask({"SET", "a", "1", "PX", "1000"});
    it.ask({"SET", "b", "1", "PX", "9000"});
    it.server.set_time(start + 2'000 * ms);
    it.server.set_time(start);
    BOOST_TEST(!it.server.exists("a"));
    BOOST_TEST(it.server.pttl("b") == 9'000);
    it.server.set_time(start - 1'000 * ms);
    BOOST_TEST(it.server.pttl("b") == 10'000);
    BOOST_TEST((it.ask({"PTTL", "b"}) == value::integer(10'000)));
}

BOOST_AUTO_TEST_SUITE_END()
