// A program in a process group of its own.

#include "cli/run/child.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

using holdfast::cli::inherited_signals;
using holdfast::cli::start_child;

namespace {

pid_t start_shell(std::string script) {
    return start_child({"sh", "-c", std::move(script)}, false, inherited_signals{});
}

int status_of(pid_t which) {
    int status = 0;
    BOOST_TEST(::waitpid(which, &status, 0) == which);
    return status;
}

int error_of(std::vector<std::string> const& command) {
    try {
        static_cast<void>(start_child(command, false, inherited_signals{}));
    } catch (std::system_error const& failure) {
        return failure.code().value();
    }
    return 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli_child_test)

BOOST_AUTO_TEST_CASE(it_has_its_arguments_and_its_environment) {
    ::setenv("HOLDFAST_TEST_CODE", "7", 1);
    BOOST_TEST(status_of(start_shell("exit $HOLDFAST_TEST_CODE")) == 7 << 8);
    ::unsetenv("HOLDFAST_TEST_CODE");
}

BOOST_AUTO_TEST_CASE(it_has_a_group_of_its_own) {
    auto const it = start_shell("exec sleep 1000");
    BOOST_TEST(it != ::getpgrp());
    BOOST_TEST(::getpgid(it) == it);
    BOOST_TEST(::getsid(it) == ::getsid(0));
    ::kill(-it, SIGKILL);
    BOOST_TEST(status_of(it) == SIGKILL);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_run_is_known_at_once) {
    BOOST_TEST(error_of({"no-such-program"}) == ENOENT);
    BOOST_TEST(error_of({"/etc/passwd"}) == EACCES);
}

BOOST_AUTO_TEST_SUITE_END()
