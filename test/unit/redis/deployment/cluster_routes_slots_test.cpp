// What a client of a cluster does when it learns where the slots are, and that they have moved.

#include "redis/deployment/cluster_routes.hpp"
#include "unit/redis/deployment/routes_to_nowhere.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast::test;
namespace asio = boost::asio;
using holdfast::error_code;
using holdfast::detail::connection_id;
using holdfast::detail::exec_result;
using holdfast::detail::slot_of;
using holdfast::detail::subscriber;
using purpose = connection_id::purpose;

namespace {

/// Who connects to it waits for an answer.
class silent_port {
public:
    explicit silent_port(asio::io_context& context)
        : listener_{context, {asio::ip::address_v4::loopback(), 0}} {}

    [[nodiscard]] std::uint16_t number() const { return listener_.local_endpoint().port(); }

private:
    asio::ip::tcp::acceptor listener_;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(cluster_routes_slots_test, routes_to_nowhere)

BOOST_AUTO_TEST_CASE(what_is_learnt_is_told_and_logged_once) {
    BOOST_TEST(changes == 0);
    learn(" 0 100 127.0.0.1 11");
    BOOST_TEST(changes == 1);
    BOOST_TEST(log.count("serves all slots") == 0U);
    learn(two_halves);
    BOOST_TEST(changes == 2);
    learn(two_halves);
    BOOST_TEST(log.count("the cluster serves all slots") == 1U);
    learn(" 0 100 127.0.0.1 11");
    BOOST_TEST(log.count("does not serve all slots") == 1U);
    // No connection is up.
    BOOST_TEST(!to->up(purpose::commands));
    BOOST_TEST(ups == 0);
}

BOOST_AUTO_TEST_CASE(nonsense_is_not_believed) {
    to->on_slots(0, holdfast::detail::script_reply{"42 x"});
    BOOST_TEST(!to->server_of(slot_of("foo")).has_value());
}

BOOST_AUTO_TEST_CASE(one_primary_is_connected_to_although_nobody_asks_for_it) {
    learn(two_halves);
    BOOST_TEST(eventually([&] { return failures_at("127.0.0.1:11") > 0; }));
    BOOST_TEST(failures_at("127.0.0.1:12") == 0U);
}

BOOST_AUTO_TEST_CASE(what_was_asked_for_before_is_connected_to_then) {
    BOOST_TEST(!to->reach(slot_of("foo")));
    learn(two_halves);
    BOOST_TEST(eventually([&] { return failures_at("127.0.0.1:12") > 0; }));
}

// Whoever asked for it is told when it is up, and does not ask again.
BOOST_AUTO_TEST_CASE(what_was_asked_for_is_connected_to_although_nobody_had_it_for_a_while) {
    learn(two_halves);
    BOOST_TEST(!to->reach(slot_of("foo")));
    learn(" 0 8191 127.0.0.1 11", 2);
    BOOST_TEST(std::count(left.begin(), left.end(), 2U) == 1);
    auto const before = failures_at("127.0.0.1:12");
    learn(two_halves, 1);
    BOOST_TEST(eventually([&] { return failures_at("127.0.0.1:12") > before; }));
}

BOOST_AUTO_TEST_CASE(who_takes_over_from_a_server_in_use_is_connected_to) {
    learn(two_halves);
    // The client connects to it unasked. A slot that somebody asks for is another reason.
    BOOST_TEST_REQUIRE(eventually([&] { return failures_at("127.0.0.1:11") > 0; }));
    // The former one says so, whose number is 1.
    learn(" 0 8191 127.0.0.1 13 8192 16383 127.0.0.1 12", 1);
    BOOST_TEST(eventually([&] { return failures_at("127.0.0.1:13") > 0; }));
    BOOST_TEST(failures_at("127.0.0.1:12") == 0U);
    // And it is left.
    auto const before = failures_at("127.0.0.1:11");
    BOOST_TEST(to->reach(slot_of("bar")) == false);
    BOOST_TEST(failures_at("127.0.0.1:11") == before);
}

BOOST_AUTO_TEST_CASE(a_server_that_lost_its_slots_while_it_was_connected_to_is_left) {
    learn(two_halves);
    std::optional<exec_result> got;
    to->on_redirected(0, {true, slot_of("bar"), "127.0.0.1", 13}, about("bar", 50ms, got));
    BOOST_TEST(eventually([&] { return got.has_value(); }));
    BOOST_TEST(eventually([&] { return failures_at("127.0.0.1:13") >= 2U; }));
    holdfast::detail::backend_events& nodes = *to;
    // Number 0 is the node that the user named, 1 and 2 have the slots.
    nodes.on_up({.what = purpose::subscriptions, .server = 3, .epoch = 1});
    BOOST_TEST(ups == 1);
    do_what_is_ready();
    BOOST_TEST(std::count(left.begin(), left.end(), 3U) == 1);
    // It is connected to anew.
    auto const before = failures_at("127.0.0.1:13");
    to->on_redirected(0, {true, slot_of("bar"), "127.0.0.1", 13}, about("bar", 50ms, got));
    context.restart();
    context.run_for(300ms);
    BOOST_TEST(failures_at("127.0.0.1:13") > before);
}

BOOST_AUTO_TEST_CASE(a_server_without_slots_is_left_when_what_it_was_asked_for_has_ended) {
    silent_port const silent{context};
    learn(two_halves);
    std::optional<exec_result> got;
    to->on_redirected(
        0,
        {true, slot_of("bar"), "127.0.0.1", silent.number()},
        about("bar", 200ms, got)
    );
    learn(two_halves);
    BOOST_TEST(eventually([&] { return got.has_value(); }));
    BOOST_TEST(std::count(left.begin(), left.end(), 3U) == 0);
    BOOST_TEST(eventually([&] { return std::count(left.begin(), left.end(), 3U) == 1; }));
}

BOOST_AUTO_TEST_CASE(whoever_is_named_by_a_third_is_asked_and_left_if_it_has_nothing) {
    silent_port const silent{context};
    learn(fmt::format(" 0 8191 127.0.0.1 11 8192 16383 127.0.0.1 {}", silent.number()));
    BOOST_TEST(!to->reach(slot_of("foo")));
    auto const has_it = to->server_of(slot_of("foo"));
    learn(" 0 8191 127.0.0.1 11 8192 16383 127.0.0.1 13");
    BOOST_TEST((to->server_of(slot_of("foo")) == has_it));
    BOOST_TEST(eventually([&] { return failures_at("127.0.0.1:13") > 0; }));
    BOOST_TEST(eventually([&] { return std::count(left.begin(), left.end(), 3U) == 1; }));
    BOOST_TEST((to->server_of(slot_of("foo")) == has_it));
    // It was forgotten, and is named again. It is believed if it says so itself.
    to->on_slots(
        0,
        holdfast::detail::script_reply{"42 0 8191 127.0.0.1 11 8192 16383 127.0.0.1 13"}
    );
    to->on_slots(4, holdfast::detail::script_reply{"42 0 8191 127.0.0.1 11 8192 16383 - 13"});
    BOOST_TEST(to->server_of(slot_of("foo")).value() == 4U);
}

BOOST_AUTO_TEST_CASE(a_server_that_takes_over_is_told_of_and_one_that_gets_a_slot_is_not) {
    learn(two_halves);
    learn(" 0 8190 127.0.0.1 11 8191 8191 127.0.0.1 13 8192 16383 127.0.0.1 12");
    BOOST_TEST(successors.empty());
    learn(" 0 8190 127.0.0.1 11 8191 8191 127.0.0.1 13 8192 16383 127.0.0.1 14");
    BOOST_REQUIRE(successors.size() == 1U);
    BOOST_TEST(successors[0] == to->server_of(slot_of("foo")).value());
}

BOOST_AUTO_TEST_CASE(a_move_to_a_server_without_a_connection_is_told_by_its_connection) {
    learn(two_halves);
    std::optional<exec_result> got;
    to->on_redirected(0, {false, slot_of("bar"), "127.0.0.1", 12}, about("bar", 50ms, got));
    BOOST_TEST(eventually([&] { return got.has_value(); }));
    BOOST_TEST(!moved);
}

BOOST_AUTO_TEST_CASE(a_subscription_waits_for_the_slots) {
    struct : subscriber {
        void on_confirmed(bool) override {}
        void on_unconfirmed() override {}
        void on_refused(error_code) override {}
        void on_notification(std::string_view) override {}
    } nobody;
    auto const held = to->subscribe("{foo}:channel", nobody);
    BOOST_TEST(static_cast<bool>(held));
    learn(two_halves);
    BOOST_TEST(eventually([&] { return failures_at("127.0.0.1:12") > 0; }));
}

BOOST_AUTO_TEST_CASE(nodes_that_come_and_go_at_new_addresses_are_forgotten_with_their_connections) {
    constexpr std::uint32_t nodes = 50;
    for (std::uint32_t i = 1; i <= nodes; ++i) {
        // Each says that it has all slots. Number 0 is the node that the user named.
        learn(" 0 16383 127.0.0.1 " + std::to_string(i + 1), i - 1);
    }
    BOOST_TEST(eventually([&] { return forgotten.size() == nodes - 1; }));
    BOOST_TEST(std::count(forgotten.begin(), forgotten.end(), 0U) == 0);
    BOOST_TEST(std::count(forgotten.begin(), forgotten.end(), nodes) == 0);
    for (auto const number : left) {
        BOOST_TEST((number == 0 || std::count(forgotten.begin(), forgotten.end(), number) == 1));
    }
    // What one of them says late is about nothing.
    to->on_slots(forgotten.front(), holdfast::detail::script_reply{"42 0 16383 127.0.0.1 9"});
    BOOST_TEST(to->server_of(slot_of("foo")).value() == nodes);
}

BOOST_AUTO_TEST_SUITE_END()
