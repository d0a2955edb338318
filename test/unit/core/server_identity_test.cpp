// When a server is another one than before.

#include "core/server_identity.hpp"

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
using holdfast::detail::server_identity;
using holdfast::detail::time_point;

BOOST_AUTO_TEST_SUITE(server_identity_test)

BOOST_AUTO_TEST_CASE(only_another_run_id_is_another_server) {
    server_identity one;
    constexpr time_point start{1h};
    BOOST_TEST(!one.on_connected("a", start));
    BOOST_TEST(!one.on_connected("a", start + 1s));
    BOOST_TEST((one.changed_at() == time_point::min()));
    BOOST_TEST(one.on_connected("b", start + 2s));
    BOOST_TEST((one.changed_at() == start + 2s));
    BOOST_TEST(!one.on_connected("b", start + 3s));
    BOOST_TEST((one.changed_at() == start + 2s));
    BOOST_TEST(one.on_connected("a", start + 4s));
    BOOST_TEST((one.changed_at() == start + 4s));
}

BOOST_AUTO_TEST_CASE(one_that_is_not_known_is_passed_over) {
    server_identity one;
    constexpr time_point start{1h};
    BOOST_TEST(!one.on_connected("", start));
    BOOST_TEST(!one.on_connected("a", start));
    BOOST_TEST(!one.on_connected("", start + 1s));
    BOOST_TEST(!one.on_connected("a", start + 2s));
    BOOST_TEST(!one.on_connected("", start + 3s));
    BOOST_TEST(one.on_connected("b", start + 4s));
}

BOOST_AUTO_TEST_CASE(one_that_has_taken_over_is_another_whatever_its_run_id) {
    server_identity one;
    constexpr time_point start{1h};
    one.on_replaced(start);
    BOOST_TEST((one.changed_at() == start));
    // That it is connected to then is nothing new.
    BOOST_TEST(!one.on_connected("a", start + 1s));
    BOOST_TEST((one.changed_at() == start));
    one.on_replaced(start + 2s);
    BOOST_TEST((one.changed_at() == start + 2s));
}

BOOST_AUTO_TEST_SUITE_END()
