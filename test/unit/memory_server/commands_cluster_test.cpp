// What a node says of its cluster.

#include "unit/memory_server/asking.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::memory;

BOOST_AUTO_TEST_SUITE(memory_commands_cluster_test)

BOOST_AUTO_TEST_CASE(a_node_names_the_servers_of_each_range_of_slots) {
    asking it;
    cluster_view view{.nodes = {{"first", 1}, {"second", 2, 0}, {"third", 3}}, .self = 2};
    view.owners[0] = view.owners[1] = view.owners[7] = 0;
    view.owners[2] = 2;
    it.server.set_cluster(view);
    auto const ranges = it.ask({"CLUSTER", "SLOTS"}).elements;
    BOOST_REQUIRE(ranges.size() == 3U);
    BOOST_REQUIRE(ranges[0].elements.size() == 4U);
    BOOST_TEST(ranges[0].elements[0] == number(0));
    BOOST_TEST(ranges[0].elements[1] == number(1));
    BOOST_TEST(ranges[0].elements[2].elements[0] == text("first"));
    BOOST_TEST(ranges[0].elements[2].elements[1] == number(1));
    BOOST_TEST(ranges[0].elements[3].elements[0] == text("second"));
    BOOST_TEST(ranges[1].elements[0] == number(2));
    BOOST_TEST(ranges[1].elements[2].elements[0] == text("third"));
    BOOST_TEST(ranges[2].elements[0] == number(7));
    BOOST_TEST(it.ask({"CLUSTER", "KEYSLOT", "b"}) == number(3300));
    auto const info = it.ask({"INFO", "server"}).text;
    BOOST_TEST(info.find("redis_mode:cluster\r\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_library_reads_what_it_says) {
    asking it;
    cluster_view view{.nodes = {{"first", 1}, {"second", 2}}};
    view.owners[0] = 0;
    view.owners[1] = 1;
    it.server.set_cluster(view);
    auto const said = it.ask({"EVAL", holdfast::detail::scripts::cluster_slots.text, "0", "n"});
    BOOST_TEST(said == text("n 0 0 first 1 1 1 second 2"));
}

BOOST_AUTO_TEST_CASE(a_server_that_is_no_node_has_no_cluster) {
    asking it;
    auto const* const refused = "ERR This instance has cluster support disabled";
    BOOST_TEST(it.ask({"CLUSTER", "SLOTS"}).text == refused);
    BOOST_TEST(it.ask({"CLUSTER", "KEYSLOT", "b"}).text == refused);
    BOOST_TEST(it.ask({"ASKING"}).text == refused);
}

BOOST_AUTO_TEST_SUITE_END()
