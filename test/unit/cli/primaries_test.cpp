// Deployments that are not there. Those that are, are tested with real servers.

#include "cli/primaries.hpp"

#include "protocol/slot.hpp"
#include "support/free_port.hpp"
#include "support/run.hpp"

#include <boost/test/unit_test.hpp>

#include <memory>

using namespace holdfast::test;
using holdfast::config;
using holdfast::errc;
using holdfast::cli::open_primaries;
using holdfast::cli::primaries;
namespace asio = boost::asio;

namespace {

primaries opened(config const& settings) {
    primaries found;
    run_with_deadline([&](asio::any_io_executor) -> asio::awaitable<void> {
        auto opening = open_primaries(settings);
        found = co_await std::move(opening);
        // Connections end with the context.
        for (auto& one : found.all) {
            one.session.reset();
        }
    });
    return found;
}

}  // namespace

BOOST_AUTO_TEST_CASE(one_server_that_is_not_there_is_a_primary_without_a_session) {
    config settings;
    settings.unix_socket = "/nowhere/redis.sock";
    auto const found = opened(settings);
    BOOST_REQUIRE(found.all.size() == 1U);
    BOOST_TEST(found.all[0].address == "/nowhere/redis.sock");
    BOOST_TEST((found.all[0].cause == errc::unreachable));
    BOOST_TEST(found.of_name("a") == nullptr);
}

BOOST_AUTO_TEST_CASE(a_cluster_without_a_node_that_answers_has_no_primaries) {
    config settings;
    settings.cluster_nodes = {{"127.0.0.1", free_tcp_port()}, {"127.0.0.1", free_tcp_port()}};
    auto const found = opened(settings);
    BOOST_TEST(found.all.empty());
    BOOST_TEST((found.cause == errc::unreachable));
    BOOST_TEST(found.why.find("127.0.0.1:") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(sentinels_that_do_not_answer_name_no_primary) {
    config settings;
    settings.sentinels = {{"127.0.0.1", free_tcp_port()}};
    settings.primary_name = "main";
    auto const found = opened(settings);
    BOOST_TEST(found.all.empty());
    BOOST_TEST(!!found.cause);
    BOOST_TEST(found.why.find("main") != std::string::npos, found.why);
}

BOOST_AUTO_TEST_CASE(a_name_without_a_known_slot_has_no_server) {
    primaries all;
    all.slots = std::make_shared<holdfast::detail::slot_map>();
    all.all.push_back({.settings = nullptr, .address = "a", .number = 0});
    BOOST_TEST(all.of_name("a") == nullptr);
}
