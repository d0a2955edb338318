// A holder leads to a line of CLIENT LIST.

#include "cli/holder_connection.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace holdfast::cli;

BOOST_AUTO_TEST_SUITE(cli_holder_connection_test)

BOOST_AUTO_TEST_CASE(the_line_of_a_client_is_found_by_its_id) {
    std::string const list =
        "id=3 addr=10.0.0.1:5000 laddr=10.0.0.9:6379 name= age=1\n"
        "id=4 addr=10.0.0.2:5000 laddr=10.0.0.9:6379 name=shop:71b9 age=1\n"
        "id=5 addr=10.0.0.3:5000 laddr=10.0.0.9:6379 name=shop:eu:82c0 age=1\n";
    auto const shop = find_connection(list, "71b9");
    BOOST_REQUIRE(shop);
    BOOST_TEST(shop->client_name == "shop");
    BOOST_TEST(shop->address == "10.0.0.2:5000");
    BOOST_TEST(find_connection(list, "82c0").value().client_name == "shop:eu");
    BOOST_TEST(!find_connection(list, "1b9"));
    BOOST_TEST(!find_connection(list, ""));
    BOOST_TEST(!find_connection("", "71b9"));
}

BOOST_AUTO_TEST_CASE(the_id_of_a_client_is_what_stands_before_the_number) {
    BOOST_TEST(client_id_of("71b9:12") == "71b9");
    BOOST_TEST(client_id_of("71b9").empty());
}

BOOST_AUTO_TEST_SUITE_END()
