// The backend on one server, before it is started and after it was stopped.

#include "redis/deployment/single.hpp"

#include "unit/redis/nowhere.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <utility>

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::detail::call;
using holdfast::detail::connection_id;
using holdfast::detail::exec_result;
using holdfast::detail::exec_status;
using holdfast::detail::make_single_server;
using holdfast::detail::script;
using holdfast::test::nowhere;
using purpose = connection_id::purpose;

namespace {
constexpr script example{"example", "return 1", ""};
}

BOOST_AUTO_TEST_SUITE(single_test)

BOOST_AUTO_TEST_CASE(before_the_start_there_is_nothing) {
    nowhere at;
    auto const one = make_single_server(at.strand, at.settings, at.count);
    BOOST_TEST(!one->up(purpose::commands));
    BOOST_TEST(!one->up(purpose::subscriptions));
    BOOST_TEST(!one->why_down().cause);
    one->stop();
    BOOST_TEST(at.ends());
    BOOST_TEST(at.log.all() == "");
}

BOOST_AUTO_TEST_CASE(it_connects_and_ends) {
    nowhere at;
    auto const one = make_single_server(at.strand, at.settings, at.count);
    one->start(at);
    BOOST_TEST(at.eventually([&] { return one->why_down().cause == errc::unreachable; }));
    std::optional<exec_result> got;
    one->exec(call{example, 1s}, [&](exec_result result) { got = std::move(result); });
    BOOST_TEST(!got.has_value());
    one->stop();
    BOOST_TEST(at.ends());
    BOOST_TEST((got->status == exec_status::not_sent));
}

BOOST_AUTO_TEST_SUITE_END()
