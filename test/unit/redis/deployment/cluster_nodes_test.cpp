// The servers that a client of a cluster is connected to, where none can be reached.

#include "redis/deployment/cluster_nodes.hpp"

#include "unit/redis/nowhere.hpp"

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <optional>
#include <utility>

using namespace std::chrono_literals;
using holdfast::config;
using holdfast::errc;
using holdfast::detail::call;
using holdfast::detail::cluster_nodes;
using holdfast::detail::exec_result;
using holdfast::detail::exec_status;
using holdfast::detail::routed_call;
using holdfast::detail::script;
using holdfast::test::nowhere;

namespace {

constexpr script example{"example", "return 1", ""};
// Port 1 refuses at once.
config::address const closed{"127.0.0.1", 1};

struct world : nowhere {
    ~world() {
        nodes.stop();
        static_cast<void>(ends());
    }
    routed_call request(std::chrono::nanoseconds timeout, std::optional<exec_result>& got) {
        return {
            .what = call{example, timeout},
            .handler = [&got](exec_result result) { got = std::move(result); },
        };
    }

    cluster_nodes nodes{server(), *this, [this](std::function<void()> f) {
                            boost::asio::post(strand, std::move(f));
                        }};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(cluster_nodes_test, world)

BOOST_AUTO_TEST_CASE(a_server_is_connected_to_once) {
    BOOST_TEST(nodes.find(3) == nullptr);
    auto* const one = &nodes.open(3, closed);
    BOOST_TEST(&nodes.open(3, closed) == one);
    BOOST_TEST(nodes.find(3) == one);
    BOOST_TEST(nodes.size() == 1U);
    BOOST_TEST(!nodes.usable(3));
    std::uint32_t number = 0;
    BOOST_TEST(nodes.any_usable(3, number) == nullptr);
    BOOST_TEST(eventually([&] { return one->why_down().cause == errc::unreachable; }));
    BOOST_TEST(log.count("127.0.0.1:1") >= 1U);
}

BOOST_AUTO_TEST_CASE(a_request_waits_for_the_first_connection_until_it_is_given_up) {
    std::optional<exec_result> got;
    nodes.exec(3, closed, request(50ms, got));
    BOOST_TEST(!got.has_value());
    BOOST_TEST(eventually([&] { return got.has_value(); }));
    BOOST_TEST((got->status == exec_status::not_sent));
    BOOST_TEST((got->error == errc::unreachable));
}

BOOST_AUTO_TEST_CASE(what_waits_is_answered_when_the_server_is_left) {
    std::optional<exec_result> got;
    nodes.exec(3, closed, request(1h, got));
    nodes.close(3);
    BOOST_TEST(!got.has_value());
    BOOST_TEST(eventually([&] { return got.has_value(); }));
    BOOST_TEST((got->status == exec_status::not_sent));
    BOOST_TEST(nodes.find(3) == nullptr);
}

BOOST_AUTO_TEST_CASE(what_waits_is_answered_at_the_end) {
    std::optional<exec_result> got;
    nodes.exec(3, closed, request(1h, got));
    nodes.stop();
    BOOST_TEST(eventually([&] { return got.has_value(); }));
    BOOST_TEST((got->error == errc::client_stopped));
}

BOOST_AUTO_TEST_CASE(one_that_is_not_wanted_is_left_when_nothing_waits_for_it) {
    std::optional<exec_result> got;
    nodes.exec(3, closed, request(50ms, got));
    nodes.open(4, closed);
    auto const none = [](std::uint32_t) { return false; };
    nodes.close_unused(1h, none);
    BOOST_TEST(nodes.find(3) != nullptr);
    BOOST_TEST(nodes.find(4) == nullptr);
    BOOST_TEST(left == std::vector<std::uint32_t>{4}, boost::test_tools::per_element());
    BOOST_TEST(eventually([&] { return got.has_value(); }));
    nodes.close_unused(1h, none);
    BOOST_TEST(nodes.size() == 0U);
}

BOOST_AUTO_TEST_CASE(the_last_one_that_is_wanted_is_kept_however_idle_it_is) {
    nodes.open(3, closed);
    nodes.close_unused(0ns, [](std::uint32_t) { return true; });
    BOOST_TEST(nodes.size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
