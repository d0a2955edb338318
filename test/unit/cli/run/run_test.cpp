// How `run` ends, and how long it gives a command that has lost its lock.

#include "cli/run/run.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>

using namespace std::chrono_literals;
using namespace holdfast::cli;

BOOST_AUTO_TEST_SUITE(cli_run_test)

BOOST_AUTO_TEST_CASE(a_command_has_until_its_lease_ends) {
    run_options options;
    BOOST_TEST((grace_of(options, 3s) == 3s));
    BOOST_TEST((grace_of(options, 0s) == 1s));
    BOOST_TEST((grace_of(options, 25s) == 5s));
    options.kill_after = 0ms;
    BOOST_TEST((grace_of(options, 3s) == 0s));
    options.kill_after = 1min;
    BOOST_TEST((grace_of(options, 3s) == 60s));
}

BOOST_AUTO_TEST_CASE(a_shell_has_to_see_that_it_was_interrupted) {
    BOOST_TEST(ended_by(SIGTERM).code == 143);
    BOOST_TEST(ended_by(SIGTERM).signal == 0);
    BOOST_TEST(ended_by(SIGINT).code == 130);
    BOOST_TEST(ended_by(SIGINT).signal == SIGINT);
}

BOOST_AUTO_TEST_SUITE_END()
