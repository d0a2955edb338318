// Which processes of a group live.

#include "cli/run/process_group.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

using namespace holdfast::cli;

BOOST_AUTO_TEST_SUITE(cli_process_group_test)

BOOST_AUTO_TEST_CASE(state_and_group_are_read_whatever_the_program_is_called) {
    auto const plain = read_process_stat("71 (sleep) S 70 69 68 0 -1");
    BOOST_TEST(plain.state == 'S');
    BOOST_TEST(plain.group == 69);
    auto const odd = read_process_stat("71 (a) Z 1 2 (b) R 70 42 68 0 -1");
    BOOST_TEST(odd.state == 'R');
    BOOST_TEST(odd.group == 42);
    for (auto const* const text :
         {"", "71", "71 (a)", "71 (a) S", "71 (a) S 70", "71 (a) S 70 x"}) {
        BOOST_TEST(read_process_stat(text).state == '?', text);
    }
}

BOOST_AUTO_TEST_CASE(a_process_that_was_not_waited_for_does_not_live) {
    BOOST_TEST(is_alive(::getpgrp()));
    auto const pid = ::fork();
    if (pid == 0) {
        ::setpgid(0, 0);
        ::pause();
        ::_exit(0);
    }
    // Whichever is first.
    ::setpgid(pid, pid);
    BOOST_TEST(is_alive(pid));
    ::kill(pid, SIGKILL);
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT);
    BOOST_TEST(!is_alive(pid));
    ::waitpid(pid, nullptr, 0);
}

BOOST_AUTO_TEST_SUITE_END()
