// The program's signals are events.

#include "cli/run/passed_signals.hpp"

#include "support/run.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <variant>

using namespace holdfast::cli;
using holdfast::test::run_with_deadline;

BOOST_AUTO_TEST_SUITE(cli_passed_signals_test)

BOOST_AUTO_TEST_CASE(each_signal_is_an_event) {
    run_with_deadline([](asio::any_io_executor executor) -> asio::awaitable<void> {
        inherited_signals const at_first;
        run_events events{executor};
        passed_signals const all{executor, at_first, events};
        for (int const signal : {SIGUSR1, SIGCHLD, SIGTERM, SIGTERM}) {
            ::raise(signal);
            auto const event = co_await events.next();
            BOOST_TEST(std::get<got_signal>(event).number == signal);
        }
    });
}

BOOST_AUTO_TEST_SUITE_END()
