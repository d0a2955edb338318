// What `force-release` says when it cannot ask.

#include "cli/force_release.hpp"

#include "cli/exit_code.hpp"
#include "support/run.hpp"

#include <boost/test/unit_test.hpp>

#include <sstream>

using namespace std::chrono_literals;
using namespace holdfast::cli;

BOOST_AUTO_TEST_SUITE(cli_force_release_test)

BOOST_AUTO_TEST_CASE(a_server_that_is_not_there_is_told_from_a_lock_that_nobody_has) {
    std::ostringstream out;
    std::ostringstream err;
    context on{.config = {}, .json = true, .colours = {}, .out = out, .err = err};
    on.config.unix_socket = "/nonexistent/socket";
    on.config.request_timeout = 50ms;
    holdfast::test::run_with_deadline([&](auto) -> boost::asio::awaitable<void> {
        name_options const options{.name = "a"};
        auto const code = co_await force_release(on, options);
        BOOST_TEST(code == to_int(exit_code::unreachable));
    });
    BOOST_TEST(out.str().empty());
    BOOST_TEST(err.str().starts_with("holdfast: cannot release 'a': "));
}

BOOST_AUTO_TEST_SUITE_END()
