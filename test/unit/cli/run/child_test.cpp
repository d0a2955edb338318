// A program in a process group of its own.

#include "cli/run/child.hpp"

#include "support/run.hpp"

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>
#include <vector>

using namespace std::chrono_literals;
using holdfast::cli::child;
using holdfast::cli::child_options;
using holdfast::cli::inherited;
using holdfast::test::eventually;

namespace {

child_options shell(std::string script) {
    return {
        .command = {"sh", "-c", std::move(script)},
        .environment = {"PATH=/usr/bin:/bin", "A=7"}
    };
}

child::change end_of(child const& which) {
    child::change last;
    BOOST_TEST(eventually(20s, [&] {
        last = which.look();
        return last.ended.has_value();
    }));
    return last;
}

int error_of(std::vector<std::string> command) {
    inherited const from;
    try {
        child const none{{.command = std::move(command), .environment = {}}, from};
    } catch (std::system_error const& failure) {
        return failure.code().value();
    }
    return 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli_child_test)

BOOST_AUTO_TEST_CASE(its_end_is_seen_until_destruction) {
    inherited const from;
    child const it{shell("exit $A"), from};
    BOOST_TEST(end_of(it).ended.value() == 7 << 8);
    BOOST_TEST(it.look().ended.value() == 7 << 8);
    // Its id is not given away.
    BOOST_TEST(::kill(it.group(), 0) == 0);
}

BOOST_AUTO_TEST_CASE(its_group_gets_signals_and_stops_are_told_once) {
    inherited const from;
    // A shell that has called vfork() cannot be stopped while its child is stopped before execve().
    child const it{shell("exec sleep 1000"), from};
    BOOST_TEST(it.group() != ::getpgrp());
    BOOST_TEST(::getpgid(it.group()) == it.group());
    it.signal_group(SIGSTOP);
    int stopped_by = 0;
    BOOST_TEST(eventually(20s, [&] {
        stopped_by = std::max(stopped_by, it.look().stopped_by);
        return stopped_by == SIGSTOP;
    }));
    BOOST_TEST(it.look().stopped_by == 0);
    it.signal_group(SIGKILL);
    BOOST_TEST(end_of(it).ended.value() == SIGKILL);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_run_is_known_at_once) {
    BOOST_TEST(error_of({"no-such-program"}) == ENOENT);
    BOOST_TEST(error_of({"/etc/passwd"}) == EACCES);
}

BOOST_AUTO_TEST_SUITE_END()
