// The backend on a Redis Cluster, before it is started, where nobody answers, and after it was
// stopped.

#include "redis/deployment/cluster.hpp"

#include "unit/redis/nowhere.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

using namespace std::chrono_literals;
using holdfast::config;
using holdfast::errc;
using holdfast::log_level;
using holdfast::detail::backend;
using holdfast::detail::call;
using holdfast::detail::connection_id;
using holdfast::detail::exec_result;
using holdfast::detail::exec_status;
using holdfast::detail::make_cluster;
using holdfast::detail::script;
using holdfast::detail::slot_of;
using holdfast::test::nowhere;
using purpose = connection_id::purpose;

namespace {

constexpr script example{"example", "return 1", ""};

// Two nodes, neither of which is there: port 1 refuses at once.
struct world : nowhere {
    world() {
        auto made = std::make_shared<config>(*settings);
        made->unix_socket.clear();
        made->cluster_nodes = {{"127.0.0.1", 1}, {"127.0.0.1", 2}};
        to = make_cluster(strand, std::move(made), count);
    }
    std::unique_ptr<backend> to;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(cluster_test, world)

BOOST_AUTO_TEST_CASE(before_the_start_there_is_nothing) {
    BOOST_TEST(to->clustered());
    BOOST_TEST(!to->up(purpose::commands));
    BOOST_TEST(!to->reach(slot_of("a")));
    BOOST_TEST(!to->server_of(slot_of("a")).has_value());
    BOOST_TEST(!to->why_down().cause);
    to->stop();
    BOOST_TEST(ends());
}

BOOST_AUTO_TEST_CASE(each_node_that_the_user_names_is_tried) {
    to->start(*this);
    BOOST_TEST(eventually([&] { return failures_at(":1") > 0 && failures_at(":2") > 0; }));
    BOOST_TEST((to->why_down().cause == errc::unreachable));
    BOOST_TEST((to->why_out_of_reach(slot_of("a")).cause == errc::unreachable));
    BOOST_TEST(!to->why_down().permanent);
    std::optional<exec_result> got;
    call what{example, 1s};
    what.key("a");
    to->exec(std::move(what), [&](exec_result result) { got = std::move(result); });
    BOOST_TEST(!got.has_value());
    BOOST_TEST(eventually([&] { return got.has_value(); }));
    BOOST_TEST((got->status == exec_status::not_sent));
    BOOST_TEST((got->error == errc::unreachable));
    to->stop();
    BOOST_TEST(ends());
    BOOST_TEST(ups == 0);
}

BOOST_AUTO_TEST_CASE(six_nodes_that_cannot_be_reached_are_three_lines_at_first) {
    auto made = std::make_shared<config>(*settings);
    made->unix_socket.clear();
    for (std::uint16_t port = 1; port <= 6; ++port) {
        made->cluster_nodes.push_back({"127.0.0.1", port});
    }
    auto const six = make_cluster(strand, std::move(made), count);
    six->start(*this);
    BOOST_TEST(eventually([&] { return unconnected.size() >= 100; }));
    // On a slow machine, 10 s may have passed.
    BOOST_TEST(log.count(log_level::warning) >= 3U, log.all());
    BOOST_TEST(log.count(log_level::warning) <= 4U, log.all());
    six->stop();
    BOOST_TEST(ends());
}

BOOST_AUTO_TEST_CASE(it_may_go_while_it_tries) {
    to->start(*this);
    BOOST_TEST(eventually([&] { return to->why_down().cause == errc::unreachable; }));
    to->stop();
    to.reset();
    BOOST_TEST(ends());
}

BOOST_AUTO_TEST_SUITE_END()
