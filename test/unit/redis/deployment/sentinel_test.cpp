// The backend on a primary that no Sentinel names, before it is started and after it was stopped.

#include "redis/deployment/sentinel.hpp"

#include "unit/redis/nowhere.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <utility>

using namespace std::chrono_literals;
using holdfast::config;
using holdfast::errc;
using holdfast::log_level;
using holdfast::detail::call;
using holdfast::detail::connection_id;
using holdfast::detail::exec_result;
using holdfast::detail::exec_status;
using holdfast::detail::make_sentinel_deployment;
using holdfast::detail::script;
using holdfast::test::nowhere;
using purpose = connection_id::purpose;

namespace {

constexpr script example{"example", "return 1", ""};

auto make_at(nowhere& at) {
    auto made = *at.settings;
    made.sentinels = {{"h1", 1}, {"h2", 2}};
    made.primary_name = "mymaster";
    made.sentinel_tls = made.tls;
    return make_sentinel_deployment(at.strand, std::make_shared<config const>(made), at.count);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sentinel_test)

BOOST_AUTO_TEST_CASE(before_the_start_there_is_nothing) {
    nowhere at;
    auto const one = make_at(at);
    BOOST_TEST(!one->up(purpose::commands));
    BOOST_TEST(!one->up(purpose::subscriptions));
    BOOST_TEST(!one->why_down().cause);
    one->stop();
    BOOST_TEST(at.ends());
    BOOST_TEST(at.log.all() == "");
}

BOOST_AUTO_TEST_CASE(without_an_answer_no_server_is_tried) {
    nowhere at;
    auto const one = make_at(at);
    one->start(at);
    BOOST_TEST(at.eventually([&] { return one->why_down().cause == errc::unreachable; }));
    BOOST_TEST(!one->why_down().permanent);
    BOOST_TEST(at.log.count("no Sentinel names") == 1U);
    BOOST_TEST(at.log.count("command connection") == 0U);
    std::optional<exec_result> got;
    one->exec(call{example, 1s}, [&](exec_result result) { got = std::move(result); });
    BOOST_TEST(!got.has_value());
    one->stop();
    BOOST_TEST(at.ends());
    BOOST_TEST((got->status == exec_status::not_sent));
    BOOST_TEST(at.count->commands.get() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
