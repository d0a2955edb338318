// When two clients have the same servers, as far as their settings tell.

#include "client/place.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using holdfast::config;
using holdfast::detail::place_of;

namespace {

config at(std::string const& host, std::uint16_t port) {
    config settings;
    settings.host = host;
    settings.port = port;
    return settings;
}

config of_sentinels(std::vector<config::address> all, std::string const& name) {
    config settings;
    settings.sentinels = std::move(all);
    settings.primary_name = name;
    return settings;
}

config of_cluster(std::vector<config::address> all) {
    config settings;
    settings.cluster_nodes = std::move(all);
    return settings;
}

config at_socket(std::string const& path) {
    config settings;
    settings.unix_socket = path;
    return settings;
}

std::string place(config const& settings) {
    return place_of(settings, nullptr);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(place_test)

BOOST_AUTO_TEST_CASE(one_server_is_its_address) {
    BOOST_TEST(place(at("a", 1)) == place(at("a", 1)));
    BOOST_TEST(place(at("a", 1)) != place(at("a", 2)));
    BOOST_TEST(place(at("a", 1)) != place(at("b", 1)));
    BOOST_TEST(place(at("a", 9)) < place(at("a", 10)));
    BOOST_TEST(place(at_socket("/a")) == place(at_socket("/a")));
    BOOST_TEST(place(at_socket("/a")) != place(at_socket("/b")));
    BOOST_TEST(place(at_socket("/a")) != place(at("a", 1)));
}

// Host and port are left as they are by default.
BOOST_AUTO_TEST_CASE(a_deployment_is_its_sentinels_and_the_name) {
    auto const one = of_sentinels({{"a", 26379}, {"b", 26379}}, "orders");
    BOOST_TEST(place(one) == place(of_sentinels({{"b", 26379}, {"a", 26379}}, "orders")));
    BOOST_TEST(place(one) != place(of_sentinels({{"a", 26379}, {"b", 26379}}, "stock")));
    BOOST_TEST(place(one) != place(of_sentinels({{"c", 26379}, {"b", 26379}}, "orders")));
    BOOST_TEST(place(one) != place(config{}));
}

BOOST_AUTO_TEST_CASE(a_cluster_is_its_nodes) {
    BOOST_TEST(place(of_cluster({{"a", 1}, {"b", 1}})) == place(of_cluster({{"b", 1}, {"a", 1}})));
    BOOST_TEST(place(of_cluster({{"a", 1}})) != place(of_cluster({{"b", 1}})));
    BOOST_TEST(place(of_cluster({{"a", 1}})) != place(at("a", 1)));
}

BOOST_AUTO_TEST_CASE(an_object_is_itself_whatever_the_settings_say) {
    int const one = 0;
    int const other = 0;
    BOOST_TEST(place_of(at("a", 1), &one) == place_of(at("b", 2), &one));
    BOOST_TEST(place_of(at("a", 1), &one) != place_of(at("a", 1), &other));
    BOOST_TEST(place_of(at("a", 1), &one) != place_of(at("a", 1), nullptr));
}

BOOST_AUTO_TEST_SUITE_END()
