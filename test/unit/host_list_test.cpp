// Lists of hosts in URLs. What is wrong with a bad one is tested with the URLs.

#include "host_list.hpp"

#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

using holdfast::detail::read_host_list;

namespace {

std::string written(std::string_view list) {
    std::string all;
    for (auto const& one : read_host_list(list, 7)) {
        all += one.host + ' ' + std::to_string(one.port) + '\n';
    }
    return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(host_list_test)

BOOST_AUTO_TEST_CASE(hosts_are_read_in_their_order) {
    BOOST_TEST(written("a") == "a 7\n");
    BOOST_TEST(written("a:1,b,c:65535") == "a 1\nb 7\nc 65535\n");
}

BOOST_AUTO_TEST_CASE(ipv6_addresses_stand_in_brackets) {
    BOOST_TEST(written("[::1]") == "::1 7\n");
    BOOST_TEST(written("a:1,[2001:db8::7]:2") == "a 1\n2001:db8::7 2\n");
}

BOOST_AUTO_TEST_CASE(what_is_not_a_host_and_a_port_is_refused) {
    for (std::string_view const bad :
         {"",     ",",      "a,",    ",a",   ":1",       "a:",      "a:0",     "a:x",
          "a:1x", "a:-1",   "a:+1",  "a: 1", "::1",      "[::1",    "::1]",    "[]",
          "[]:1", "[::1]1", "a:1:2", "a]",   "[::1]x:1", "a:65536", "a:1,[b:2"}) {
        BOOST_TEST_CONTEXT(bad) {
            BOOST_CHECK_THROW(static_cast<void>(read_host_list(bad, 7)), std::invalid_argument);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
