// The lock of a command, where there is no server. The scenarios are in
// test/integration/command_line_run_test.cpp.

#include "cli/run/holding.hpp"

#include "support/run.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <optional>
#include <sstream>
#include <stdexcept>

using namespace std::chrono_literals;
using namespace holdfast::cli;
using holdfast::test::run_with_deadline;
using task = asio::awaitable<void>;

namespace {

struct nowhere {
    nowhere() {
        on.config.unix_socket = "/nonexistent/socket";
        options.name = "a";
        options.lease = 1s;
    }

    std::ostringstream out;
    std::ostringstream err;
    context on{.config = {}, .json = false, .colours = {}, .out = out, .err = err};
    run_options options;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(cli_holding_test)

BOOST_AUTO_TEST_CASE(a_lock_is_not_waited_for_where_there_is_no_server) {
    nowhere world;
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        run_events events{executor};
        holding held{world.on, world.options, executor, events};
        auto const ending = co_await held.acquire();
        BOOST_REQUIRE(ending);
        BOOST_TEST(ending->code == 69);
        BOOST_TEST(!held.lease());
        co_await held.shut_down();
    });
    BOOST_TEST(world.err.str().starts_with("holdfast: cannot acquire 'a': "));
}

BOOST_AUTO_TEST_CASE(a_signal_ends_the_wait_and_another_one_does_not) {
    nowhere world;
    world.options.wait = 1h;
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        run_events events{executor};
        holding held{world.on, world.options, executor, events};
        events.put(got_signal{SIGWINCH});
        events.put(got_signal{SIGTERM});
        auto const ending = co_await held.acquire();
        BOOST_REQUIRE(ending);
        BOOST_TEST(ending->code == 128 + SIGTERM);
        co_await held.shut_down();
    });
    BOOST_TEST(world.err.str().empty());
}

BOOST_AUTO_TEST_CASE(a_lease_that_no_client_accepts_is_an_error_at_once) {
    nowhere world;
    world.options.lease = 1ms;
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        run_events events{executor};
        BOOST_CHECK_THROW(
            (holding{world.on, world.options, executor, events}),
            std::invalid_argument
        );
        co_return;
    });
}

BOOST_AUTO_TEST_SUITE_END()
