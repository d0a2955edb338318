// The program's signals are events.

#include "cli/run/passed_signals.hpp"

#include "support/run.hpp"

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <variant>

using namespace holdfast::cli;
using namespace std::chrono_literals;
using holdfast::test::co_eventually;
using holdfast::test::run_with_deadline;

BOOST_AUTO_TEST_SUITE(cli_passed_signals_test)

BOOST_AUTO_TEST_CASE(each_signal_is_an_event) {
    run_with_deadline([](asio::any_io_executor executor) -> asio::awaitable<void> {
        inherited_signals const at_first;
        run_events events{executor};
        passed_signals const all{executor, at_first, events};
        for (int const signal : {SIGUSR1, SIGTERM, SIGTERM}) {
            ::raise(signal);
            auto const event = co_await events.next();
            BOOST_TEST(std::get<got_signal>(event).number == signal);
        }
    });
}

// The first process of a container is the parent of all that lose theirs.
BOOST_AUTO_TEST_CASE(children_of_others_are_waited_for) {
    run_with_deadline([](asio::any_io_executor executor) -> asio::awaitable<void> {
        inherited_signals const at_first;
        run_events events{executor};
        passed_signals const all{executor, at_first, events};
        auto const child = ::fork();
        if (child == 0) {
            ::_exit(0);
        }
        auto const is_gone = [child] { return ::kill(child, 0) != 0 && errno == ESRCH; };
        BOOST_TEST(co_await co_eventually(20s, is_gone));
    });
}

BOOST_AUTO_TEST_SUITE_END()
