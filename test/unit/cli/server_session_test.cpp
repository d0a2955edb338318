// What a login's replies mean, and a server that is not there. What real ones say is tested with
// them.

#include "cli/server_session.hpp"

#include "support/run.hpp"
#include "unit/cli/replies.hpp"

#include <boost/asio/error.hpp>
#include <boost/redis/error.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>

using namespace holdfast::test;
using holdfast::config;
using holdfast::errc;
using holdfast::cli::server_session;
namespace asio = boost::asio;

namespace {

auto const hello = words(
    {"server", "redis", "version", "7.0.15", "proto", "3", "mode", "standalone", "role", "replica"}
);

}  // namespace

BOOST_AUTO_TEST_CASE(a_greeting_tells_version_mode_and_role) {
    auto const said = server_session::judge({hello}, 1, {});
    BOOST_TEST(!said.cause);
    BOOST_TEST(said.server.version == "7.0.15");
    BOOST_TEST(said.server.major == 7);
    BOOST_TEST(said.server.mode == "standalone");
    BOOST_TEST(said.server.is_replica());
}

// An old server, as one that is not there any more, cannot be started for a test.
BOOST_AUTO_TEST_CASE(a_server_that_knows_no_hello_is_not_supported) {
    auto const said = server_session::judge(
        {refusal("ERR unknown command `HELLO`, with args beginning with: `3`, `AUTH`, `alice`, "
                 "`secret`, ")},
        1,
        {}
    );
    BOOST_TEST((said.cause == errc::unsupported_server));
    BOOST_TEST(said.why.find("HELLO") != std::string::npos);
    BOOST_TEST(said.why.find("secret") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_the_server_said_counts_more_than_that_it_hung_up) {
    auto const said = server_session::judge(
        {refusal("DENIED Redis is running in protected mode")},
        1,
        asio::error::eof
    );
    BOOST_TEST(said.why.starts_with("DENIED"));
    BOOST_TEST(
        (server_session::judge({hello, refusal("ERR DB index is out of range")}, 2, {}).cause ==
         errc::unsupported_server)
    );
    BOOST_TEST((server_session::judge({refusal("WRONGPASS no")}, 1, {}).cause == errc::auth_failed)
    );
}

BOOST_AUTO_TEST_CASE(silence_is_called_so) {
    for (holdfast::error_code const ended :
         {holdfast::error_code{asio::error::timed_out},
          holdfast::error_code{boost::redis::error::pong_timeout}}) {
        auto const said = server_session::judge({}, 1, ended);
        BOOST_TEST((said.cause == errc::unreachable));
        BOOST_TEST(said.why == "no answer in time");
    }
    // The reply to SELECT is missing.
    BOOST_TEST((server_session::judge({hello}, 2, {}).cause == errc::unreachable));
}

BOOST_AUTO_TEST_CASE(a_server_that_is_not_there_cannot_be_opened) {
    run_with_deadline([](asio::any_io_executor executor) -> asio::awaitable<void> {
        config settings;
        settings.unix_socket = "/nowhere/redis.sock";
        auto const trust = std::make_shared<holdfast::detail::tls_trust>(settings.tls);
        auto opening =
            server_session::open(executor, std::make_shared<config const>(settings), trust);
        auto const opened = co_await std::move(opening);
        BOOST_TEST(!opened.session);
        BOOST_TEST((opened.cause == errc::unreachable));
        BOOST_TEST(!opened.why.empty());
    });
}

BOOST_AUTO_TEST_CASE(a_certificate_that_cannot_be_read_is_told) {
    run_with_deadline([](asio::any_io_executor executor) -> asio::awaitable<void> {
        config settings;
        settings.tls = {.enabled = true, .ca_file = "/nowhere/ca.pem"};
        auto const trust = std::make_shared<holdfast::detail::tls_trust>(settings.tls);
        auto opening =
            server_session::open(executor, std::make_shared<config const>(settings), trust);
        auto const opened = co_await std::move(opening);
        BOOST_TEST(!opened.session);
        BOOST_TEST((opened.cause == errc::tls_failed));
    });
}
