// Signals that are passed on, and the state in which a command begins.

#include "cli/run/signals.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

using namespace holdfast::cli;

namespace {

bool passes_on(inherited_signals const& all, int signal) {
    return std::ranges::count(all.passed_on(), signal) == 1;
}

bool is_blocked(int signal) {
    sigset_t now;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
    return ::sigismember(&now, signal) == 1;
}

// The exit code of a child that does this; minus the signal that ended it.
template <class F>
int in_child(F what) {
    auto const pid = ::fork();
    if (pid == 0) {
        ::_exit(what());
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void do_nothing(int) {}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli_signals_test)

BOOST_AUTO_TEST_CASE(what_was_ignored_is_not_passed_on) {
    auto* const before = std::signal(SIGHUP, SIG_IGN);
    inherited_signals const ignoring;
    std::signal(SIGHUP, SIG_DFL);
    inherited_signals const plain;
    std::signal(SIGHUP, before);
    BOOST_TEST(!passes_on(ignoring, SIGHUP));
    BOOST_TEST(passes_on(plain, SIGHUP));
    BOOST_TEST(passes_on(plain, SIGTERM));
    BOOST_TEST(!passes_on(plain, SIGCHLD));
}

BOOST_AUTO_TEST_CASE(all_signals_are_blocked_for_a_while) {
    {
        blocked_signals const none;
        BOOST_TEST(is_blocked(SIGTERM));
    }
    BOOST_TEST(!is_blocked(SIGTERM));
}

BOOST_AUTO_TEST_CASE(a_child_begins_as_the_program_did) {
    inherited_signals const at_first;
    auto const child = [&] {
        std::signal(SIGUSR1, do_nothing);
        blocked_signals const none;
        at_first.restore();
        bool const blocked = is_blocked(SIGUSR1);
        struct sigaction now{};
        ::sigaction(SIGUSR1, nullptr, &now);
        return !blocked && now.sa_handler == SIG_DFL ? 0 : 1;
    };
    BOOST_TEST(in_child(child) == 0);
}

BOOST_AUTO_TEST_CASE(a_program_dies_of_a_signal_that_it_handles) {
    auto const child = [] {
        std::signal(SIGINT, do_nothing);
        blocked_signals const none;
        end_by(SIGINT);
        return 1;
    };
    BOOST_TEST(in_child(child) == -SIGINT);
}

BOOST_AUTO_TEST_CASE(some_signals_ask_to_end) {
    BOOST_TEST(asks_to_end(SIGTERM));
    BOOST_TEST(asks_to_end(SIGINT));
    BOOST_TEST(!asks_to_end(SIGWINCH));
    BOOST_TEST(!asks_to_end(SIGCHLD));
}

BOOST_AUTO_TEST_CASE(a_group_without_a_shell_cannot_be_stopped) {
    // An orphaned group: nobody would make it go on again.
    auto const child = [] {
        ::setsid();
        stop_own_group();
        return 3;
    };
    BOOST_TEST(in_child(child) == 3);
}

BOOST_AUTO_TEST_SUITE_END()
