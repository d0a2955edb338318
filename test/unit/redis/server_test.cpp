// The two connections of a server that cannot be reached. That both lead to the same server is
// tested with servers.

#include "redis/server.hpp"

#include "unit/redis/nowhere.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <string_view>

using holdfast::errc;
using holdfast::detail::connection_id;
using holdfast::detail::server;
using holdfast::test::nowhere;
using purpose = connection_id::purpose;

BOOST_AUTO_TEST_SUITE(server_test)

BOOST_AUTO_TEST_CASE(both_connections_are_made_and_missed_and_one_line_says_so) {
    nowhere at;
    server one{at.server(), at};
    BOOST_TEST(!one.why_down().cause);
    one.start();
    auto const missed = [&](std::string_view name) {
        return std::ranges::any_of(at.unconnected, [&](auto const& each) {
            return each.second.starts_with(name);
        });
    };
    BOOST_TEST(at.eventually([&] {
        return missed("command connection") && missed("subscription connection");
    }));
    BOOST_TEST(at.log.count("cannot be made") == 1U, at.log.all());
    BOOST_TEST(!one.up(purpose::commands));
    BOOST_TEST(!one.up(purpose::subscriptions));
    BOOST_TEST((one.why_down().cause == errc::unreachable));
    BOOST_TEST(!one.why_down().permanent);
    one.stop();
    BOOST_TEST(at.ends());
}

BOOST_AUTO_TEST_CASE(a_failure_of_either_is_reported_with_its_name) {
    nowhere at{"/nowhere/ca.crt"};
    server one{at.server(), at};
    one.start();
    auto const failed = [&](purpose what) {
        return std::ranges::any_of(at.failures, [what](auto const& each) {
            return each.first.what == what && each.second == errc::tls_failed;
        });
    };
    BOOST_TEST(at.eventually([&] {
        return failed(purpose::commands) && failed(purpose::subscriptions);
    }));
    BOOST_TEST(one.why_down().permanent);
    one.stop();
    BOOST_TEST(at.ends());
}

BOOST_AUTO_TEST_CASE(replicas_are_waited_for_on_a_connection_of_their_own_if_that_is_asked_for) {
    nowhere at;
    auto settings = *at.settings;
    settings.replicas.count = 1;
    settings.reconnect_min = settings.reconnect_max = std::chrono::hours{1};
    at.settings = std::make_shared<holdfast::config const>(std::move(settings));
    server one{at.server(), at};
    one.start();
    // One attempt of each, whose handshakes have 5, 3 and 3 commands.
    BOOST_TEST(at.eventually([&] { return at.count->commands.get() == 11U; }));
    one.stop();
    BOOST_TEST(at.ends());
}

BOOST_AUTO_TEST_SUITE_END()
