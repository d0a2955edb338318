// A command that cannot be started. What becomes of others is in
// test/integration/command_line_run_test.cpp.

#include "cli/run/supervision.hpp"

#include "support/run.hpp"

#include <boost/test/unit_test.hpp>

#include <sstream>

using namespace std::chrono_literals;
using namespace holdfast::cli;
using holdfast::test::run_with_deadline;

BOOST_AUTO_TEST_SUITE(cli_supervision_test)

BOOST_AUTO_TEST_CASE(a_command_that_is_not_there_ends_with_the_code_of_shells) {
    std::ostringstream out;
    std::ostringstream err;
    context on{.config = {}, .json = false, .colours = {}, .out = out, .err = err};
    on.config.unix_socket = "/nonexistent/socket";
    run_options options;
    options.name = "a";
    options.command = {"no-such-program", "argument"};
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        guard const by{options, options.name, inherited_signals{}};
        run_events events{executor};
        holding held{on, options, executor, events};
        supervision watched{on, options, by, executor, held, events};
        auto const ending = co_await watched.run();
        BOOST_TEST(ending.code == 127);
        BOOST_TEST(!watched.lost());
        co_await held.shut_down();
    });
    BOOST_TEST(err.str().starts_with("holdfast: cannot run no-such-program: "));
}

BOOST_AUTO_TEST_SUITE_END()
