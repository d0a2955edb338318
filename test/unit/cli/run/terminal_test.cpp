// A program without a terminal has nothing to give.

#include "cli/run/terminal.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

using holdfast::cli::terminal;

BOOST_AUTO_TEST_SUITE(cli_terminal_test)

BOOST_AUTO_TEST_CASE(a_session_without_a_terminal_has_none) {
    auto const pid = ::fork();
    if (pid == 0) {
        ::setsid();
        terminal none;
        none.give_to(::getpid());
        bool const nothing = !none.there() && !none.ours() && !none.for_command() && !none.given();
        ::_exit(nothing ? 0 : 1);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_SUITE_END()
