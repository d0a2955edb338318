// What a Sentinel says, and to whom it tells of a switch.

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::memory;

namespace {

struct watching : asking {
    watching() { server.set_watched({"main", "first", 6379, 1}); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_commands_sentinel_test)

BOOST_AUTO_TEST_CASE(a_sentinel_names_the_primary_that_it_watches) {
    watching it;
    auto const address = it.ask({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main"});
    BOOST_TEST((address == value::array({value::bulk("first"), value::bulk("6379")})));
    BOOST_TEST((it.ask({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", "other"}) == value::nil()));
    auto const primary = it.ask({"SENTINEL", "MASTER", "main"});
    BOOST_REQUIRE(primary.elements.size() == 8U);
    BOOST_TEST(primary.elements[6].text == "config-epoch");
    BOOST_TEST(primary.elements[7].text == "1");
    auto const unknown = it.ask({"SENTINEL", "MASTER", "other"});
    BOOST_TEST(unknown.text == "ERR No such master with that name");
}

BOOST_AUTO_TEST_CASE(a_switch_is_announced_once_to_those_who_listen) {
    watching it;
    it.server.execute(it.session, {"SUBSCRIBE", "+switch-master"});
    it.pushes.clear();
    it.server.set_watched({"main", "second", 6379, 2});
    it.server.set_watched({"main", "second", 6379, 3});
    BOOST_REQUIRE(it.pushes.size() == 1U);
    BOOST_REQUIRE(it.pushes[0].elements.size() == 3U);
    BOOST_TEST(it.pushes[0].elements[2].text == "main first 6379 second 6379");
}

BOOST_AUTO_TEST_CASE(a_server_of_data_is_no_sentinel) {
    asking it;
    BOOST_TEST(it.ask({"SENTINEL", "MASTER", "main"}).is_error());
}

BOOST_AUTO_TEST_SUITE_END()
