// Where requests about keys go, and what follows when a node names another one. The nodes' ports
// are closed: that they answer is tested with real clusters.

#include "redis/deployment/cluster_routes.hpp"
#include "unit/redis/deployment/routes_to_nowhere.hpp"

#include <boost/test/unit_test.hpp>

#include <optional>
#include <utility>

using namespace std::chrono_literals;
using namespace holdfast::test;
using holdfast::errc;
using holdfast::lease_clock;
using holdfast::detail::exec_result;
using holdfast::detail::exec_status;
using holdfast::detail::redirection;
using holdfast::detail::slot_of;

BOOST_FIXTURE_TEST_SUITE(cluster_routes_requests_test, routes_to_nowhere)

BOOST_AUTO_TEST_CASE(a_request_for_a_server_that_is_not_connected_to_waits_for_it) {
    learn(two_halves);
    std::optional<exec_result> got;
    auto request = about("foo", 50ms, got);
    to->exec(std::move(request.what), std::move(request.handler));
    BOOST_TEST(!got.has_value());
    BOOST_TEST(eventually([&] { return got.has_value(); }));
    BOOST_TEST((got->status == exec_status::not_sent));
}

BOOST_AUTO_TEST_CASE(who_has_a_slot_now_gets_all_that_comes_later) {
    learn(two_halves);
    auto const before = to->server_of(slot_of("bar"));
    std::optional<exec_result> got;
    to->on_redirected(0, {false, slot_of("bar"), "127.0.0.1", 13}, about("bar", 50ms, got));
    BOOST_TEST(to->server_of(slot_of("bar")).value() == to->server_of(slot_of("{bar}:2")).value());
    BOOST_TEST((to->server_of(slot_of("bar")) != before));
    BOOST_TEST((to->server_of(slot_of("bar")) != to->server_of(slot_of("foo"))));
    BOOST_TEST(eventually([&] { return failures_at("127.0.0.1:13") > 0; }));
    BOOST_TEST(eventually([&] { return got.has_value(); }));
    BOOST_TEST((got->status == exec_status::not_sent));
}

BOOST_AUTO_TEST_CASE(what_is_asked_for_elsewhere_once_leaves_the_slot_where_it_is) {
    learn(two_halves);
    auto const before = to->server_of(slot_of("bar"));
    std::optional<exec_result> got;
    to->on_redirected(0, {true, slot_of("bar"), "127.0.0.1", 13}, about("bar", 50ms, got));
    BOOST_TEST((to->server_of(slot_of("bar")) == before));
    BOOST_TEST(eventually([&] { return failures_at("127.0.0.1:13") > 0; }));
    BOOST_TEST(eventually([&] { return got.has_value(); }));
}

BOOST_AUTO_TEST_CASE(a_node_without_a_host_means_its_own) {
    learn(two_halves);
    std::optional<exec_result> got;
    // Number 0 is the node that the user named, at 127.0.0.1.
    to->on_redirected(0, {false, slot_of("bar"), "", 13}, about("bar", 50ms, got));
    BOOST_TEST(eventually([&] { return failures_at("127.0.0.1:13") > 0; }));
    BOOST_TEST(eventually([&] { return got.has_value(); }));
}

BOOST_AUTO_TEST_CASE(a_request_is_not_sent_round_for_ever) {
    learn(two_halves);
    std::optional<exec_result> got;
    auto request = about("bar", 1h, got);
    request.redirections = 5;
    to->on_redirected(0, {false, slot_of("bar"), "127.0.0.1", 13}, std::move(request));
    BOOST_TEST(!got.has_value());
    BOOST_TEST(eventually([&] { return got.has_value(); }));
    BOOST_TEST((got->status == exec_status::refused));
    BOOST_TEST((got->error == errc::server_refused));
}

BOOST_AUTO_TEST_CASE(a_request_that_is_given_up_by_then_is_not_sent_on) {
    learn(two_halves);
    std::optional<exec_result> got;
    auto request = about("bar", 1h, got);
    request.give_up_at = lease_clock::now();
    to->on_redirected(0, {false, slot_of("bar"), "127.0.0.1", 13}, std::move(request));
    BOOST_TEST(eventually([&] { return got.has_value(); }));
    BOOST_TEST((got->status == exec_status::refused));
}

BOOST_AUTO_TEST_CASE(after_the_end_nothing_is_sent_on) {
    learn(two_halves);
    to->stop();
    std::optional<exec_result> got;
    to->on_redirected(0, {false, slot_of("bar"), "127.0.0.1", 13}, about("bar", 1h, got));
    BOOST_TEST(eventually([&] { return got.has_value(); }));
    BOOST_TEST(!to->reach(slot_of("bar")));
}

BOOST_AUTO_TEST_CASE(what_waits_for_replicas_waits_for_its_server) {
    learn(two_halves);
    std::optional<exec_result> got;
    unsigned confirmed = 9;
    auto const ask = [&] {
        auto request = about("foo", 1h, got);
        got.reset();
        to->exec_replicated(
            std::move(request.what),
            {1, 50ms},
            [&](exec_result result, unsigned have) {
                got = std::move(result);
                confirmed = have;
            }
        );
        BOOST_TEST(!got.has_value());
        BOOST_TEST(eventually([&] { return got.has_value(); }));
        BOOST_TEST((got->status == exec_status::not_sent));
        BOOST_TEST(confirmed == 0U);
    };
    ask();
    learn(" 0 5060 127.0.0.1 11");
    ask();
    to->stop();
    ask();
    BOOST_TEST((got->error == errc::client_stopped));
}

BOOST_AUTO_TEST_CASE(what_waits_for_replicas_is_not_sent_round_for_ever) {
    learn(two_halves);
    std::optional<exec_result> got;
    auto request = about("bar", 1h, got);
    to->on_redirected(
        0,
        {false, slot_of("bar"), "127.0.0.1", 13},
        holdfast::detail::replicated_call{
            .what = std::move(request.what),
            .handler = [&](exec_result result, unsigned) { got = std::move(result); },
            .give_up_at = lease_clock::now() + 1h,
            .redirections = 5,
        }
    );
    BOOST_TEST(eventually([&] { return got.has_value(); }));
    BOOST_TEST((got->status == exec_status::refused));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(cluster_routes_requests_delay_test)

// It may have taken over, and must not grant what was asked of the one before.
BOOST_AUTO_TEST_CASE(with_a_delay_nothing_is_sent_on_to_a_server_that_was_not_known) {
    routes_to_nowhere all{1s};
    all.learn(routes_to_nowhere::two_halves);
    std::optional<exec_result> got;
    auto request = all.about("bar", 1h, got);
    all.to->on_redirected(0, {false, slot_of("bar"), "127.0.0.1", 13}, std::move(request));
    BOOST_TEST(all.eventually([&] { return got.has_value(); }));
    BOOST_TEST((got->status == exec_status::refused));
    BOOST_TEST((got->error == errc::server_refused));
    // What is asked for once while the slot moves is another matter: its server still has it.
    got.reset();
    auto once = all.about("foo", 50ms, got);
    all.to->on_redirected(0, {true, slot_of("foo"), "127.0.0.1", 13}, std::move(once));
    BOOST_TEST(all.eventually([&] { return got.has_value(); }));
    BOOST_TEST((got->status == exec_status::not_sent));
}

BOOST_AUTO_TEST_SUITE_END()
