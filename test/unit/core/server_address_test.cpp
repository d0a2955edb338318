// Where a server listens, as a user writes it.

#include "core/server_address.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using holdfast::detail::read_address;
using holdfast::detail::server_address;

BOOST_AUTO_TEST_SUITE(server_address_test)

BOOST_AUTO_TEST_CASE(a_host_may_have_a_port) {
    BOOST_TEST((read_address("h1:7000") == server_address{"h1", 7000}));
    BOOST_TEST((read_address("10.0.0.1") == server_address{"10.0.0.1", 6379}));
    BOOST_TEST((read_address("[::1]:7001") == server_address{"::1", 7001}));
    BOOST_TEST((read_address("[fe80::1]") == server_address{"fe80::1", 6379}));
}

BOOST_AUTO_TEST_CASE(anything_else_is_none) {
    for (std::string const text :
         {"", ":7000", "h:", "h:0", "h:65536", "h:x", "h:1:2", "[::1", "[]:1", "[::1]7", "a b:1"}) {
        BOOST_TEST(!read_address(text), text);
    }
}

BOOST_AUTO_TEST_SUITE_END()
