// What error replies mean for a request is decided by `classify` and `read_redirection`, and tested
// there; that the request goes where it has to is tested with servers and clusters. Here: what is
// known of a request goes with it from node to node.

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
using holdfast::detail::routed_call;
using holdfast::detail::script;
using holdfast::detail::supervisor;
using holdfast::test::nowhere;

namespace {
constexpr script example{"example", "return 1", ""};
}

BOOST_AUTO_TEST_SUITE(command_connection_replies_test)

BOOST_AUTO_TEST_CASE(a_request_that_comes_from_another_node_is_answered_without_a_connection_too) {
    nowhere at;
    auto const one = std::make_shared<command_connection>(at.server(), supervisor::events{});
    BOOST_TEST(one->idle());
    BOOST_TEST(!one->was_up());
    std::optional<exec_result> got;
    routed_call moved{
        .what = call{example, 1s},
        .handler = [&](exec_result result) { got = std::move(result); },
    };
    moved.redirections = 1;
    moved.asking = true;
    one->exec(std::move(moved));
    BOOST_TEST(!got.has_value());
    BOOST_TEST(at.eventually([&] { return got.has_value(); }));
    BOOST_TEST((got->status == exec_status::not_sent));
    BOOST_TEST(!got->keys_apart);
    BOOST_TEST(one->idle());
    one->stop();
    BOOST_TEST(at.ends());
}

BOOST_AUTO_TEST_SUITE_END()
