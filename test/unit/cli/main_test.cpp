// The program as it is installed.

#include "support/child_process.hpp"

#include <holdfast/version.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

using holdfast::test::run_program;

BOOST_AUTO_TEST_SUITE(cli_main_test)

BOOST_AUTO_TEST_CASE(it_says_its_version) {
    BOOST_TEST(
        run_program({HOLDFAST_TEST_PROGRAM, "--version"}) ==
        std::string{"holdfast " HOLDFAST_VERSION_STRING "\n"}
    );
}

BOOST_AUTO_TEST_SUITE_END()
