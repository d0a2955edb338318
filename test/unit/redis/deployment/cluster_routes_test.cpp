// Which node of a cluster has a key, and whether it can be asked. The nodes' ports are closed: that
// they answer is tested with real clusters.

#include "redis/deployment/cluster_routes.hpp"

#include "unit/redis/deployment/routes_to_nowhere.hpp"

#include <boost/test/unit_test.hpp>

#include <optional>
#include <utility>

using namespace std::chrono_literals;
using namespace holdfast::test;
using holdfast::errc;
using holdfast::detail::exec_result;
using holdfast::detail::exec_status;
using holdfast::detail::slot_of;

BOOST_FIXTURE_TEST_SUITE(cluster_routes_test, routes_to_nowhere)

BOOST_AUTO_TEST_CASE(keys_are_routed_by_their_slots) {
    learn(two_halves);
    // Slot 12182 and slot 5061.
    BOOST_TEST(to->server_of(slot_of("foo")).value() != to->server_of(slot_of("bar")).value());
    BOOST_TEST(to->server_of(slot_of("{bar}:2")).value() == to->server_of(slot_of("bar")).value());
    BOOST_TEST(!to->reach(slot_of("bar")));
    BOOST_TEST(eventually([&] { return failures_at("127.0.0.1:11") > 0; }));
    BOOST_TEST(failures_at("127.0.0.1:12") == 0U);
    BOOST_TEST(!to->reach(slot_of("foo")));
    BOOST_TEST(eventually([&] { return failures_at("127.0.0.1:12") > 0; }));
    BOOST_TEST((to->why_out_of_reach(slot_of("foo")).cause == errc::unreachable));
}

BOOST_AUTO_TEST_CASE(a_slot_that_nobody_has_is_out_of_reach) {
    learn(" 0 5060 127.0.0.1 11");
    std::optional<exec_result> got;
    auto request = about("foo", 1h, got);
    to->exec(std::move(request.what), std::move(request.handler));
    BOOST_TEST(eventually([&] { return got.has_value(); }));
    BOOST_TEST((got->status == exec_status::not_sent));
    BOOST_TEST(!to->reach(slot_of("foo")));
    learn(two_halves);
    // Somebody waits for it.
    BOOST_TEST(eventually([&] { return failures_at("127.0.0.1:12") > 0; }));
}

BOOST_AUTO_TEST_SUITE_END()
