// A holder leads to a line of CLIENT LIST.

#include "cli/holder_connection.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace holdfast::cli;

BOOST_AUTO_TEST_SUITE(cli_holder_connection_test)

BOOST_AUTO_TEST_CASE(clients_are_found_by_the_ids_in_the_names_of_their_connections) {
    auto const all = connections_in(
        "id=3 addr=10.0.0.1:5000 laddr=10.0.0.9:6379 name= age=1\n"
        "id=4 addr=10.0.0.2:5000 laddr=10.0.0.9:6379 name=shop:71b9 age=1\n"
        "id=5 addr=10.0.0.2:5001 laddr=10.0.0.9:6379 name=shop:71b9 age=1\n"
        "id=6 addr=10.0.0.3:5000 laddr=10.0.0.9:6379 name=shop:eu:82c0 age=1\n"
    );
    BOOST_TEST(all.size() == 2U);
    BOOST_TEST(all.at("71b9").client_name == "shop");
    BOOST_TEST(all.at("71b9").address == "10.0.0.2:5000");
    BOOST_TEST(all.at("82c0").client_name == "shop:eu");
    BOOST_TEST(connections_in("").empty());
}

BOOST_AUTO_TEST_CASE(a_holder_is_a_client_and_a_number) {
    std::string const client = "8766556d-3dc3-4c66-bafa-c88ac2e160f9";
    BOOST_TEST(client_id_of(client + ":17") == client);
    // Of a transaction of Redisson.
    BOOST_TEST(client_id_of(client + ":17:" + client) == client);
    BOOST_TEST(client_id_of(client).empty());
    BOOST_TEST(client_id_of("user:42").empty());
    BOOST_TEST(client_id_of("").empty());
}

BOOST_AUTO_TEST_SUITE_END()
