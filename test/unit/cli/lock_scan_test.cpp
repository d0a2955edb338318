// A server that has gone. What is found is tested with real servers.

#include "cli/lock_scan.hpp"

#include "support/run.hpp"

#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>

using namespace holdfast::test;
using holdfast::config;
using holdfast::cli::scan_for_locks;
using holdfast::cli::server_session;
namespace asio = boost::asio;

BOOST_AUTO_TEST_CASE(a_scan_ends_with_the_connection) {
    run_with_deadline([](asio::any_io_executor executor) -> asio::awaitable<void> {
        config settings;
        settings.request_timeout = std::chrono::milliseconds{50};
        holdfast::detail::tls_trust trust{settings.tls};
        // It was never connected.
        server_session session{executor, std::make_shared<config const>(settings), trust};
        bool thrown = false;
        try {
            auto scanning = scan_for_locks(session, {.pattern = "*"});
            co_await std::move(scanning);
        } catch (boost::system::system_error const&) {
            thrown = true;
        }
        BOOST_TEST(thrown);
    });
}
