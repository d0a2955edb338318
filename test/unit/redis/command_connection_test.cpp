// Requests without a connection are not sent. What happens to those that are sent is decided by
// `reply_matcher`, and tested with servers.

#include "redis/command_connection.hpp"

#include "unit/redis/nowhere.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <utility>

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::detail::call;
using holdfast::detail::command_connection;
using holdfast::detail::exec_result;
using holdfast::detail::exec_status;
using holdfast::detail::script;
using holdfast::detail::supervisor;
using holdfast::test::nowhere;

namespace {
constexpr script example{"example", "return 1", ""};
}

BOOST_AUTO_TEST_SUITE(command_connection_test)

BOOST_AUTO_TEST_CASE(without_a_connection_a_request_is_not_sent_and_the_cause_is_told_later) {
    nowhere at;
    auto const one = std::make_shared<command_connection>(at.server(), supervisor::events{});
    BOOST_TEST(!one->usable());
    one->start();
    BOOST_TEST(at.eventually([&] { return static_cast<bool>(one->why_down().cause); }));
    std::optional<exec_result> got;
    one->exec(call{example, 1s}, [&](exec_result result) { got = std::move(result); });
    BOOST_TEST(!got.has_value());
    BOOST_TEST(at.eventually([&] { return got.has_value(); }));
    BOOST_TEST((got->status == exec_status::not_sent));
    BOOST_TEST((got->error == errc::unreachable));
    one->stop();
    BOOST_TEST(at.ends());
}

BOOST_AUTO_TEST_CASE(after_the_stop_a_request_is_not_sent_either) {
    nowhere at;
    auto const one = std::make_shared<command_connection>(at.server(), supervisor::events{});
    one->start();
    one->stop();
    std::optional<exec_result> got;
    one->exec(call{example, 1s}, [&](exec_result result) { got = std::move(result); });
    BOOST_TEST(at.ends());
    BOOST_TEST((got->status == exec_status::not_sent));
}

BOOST_AUTO_TEST_SUITE_END()
