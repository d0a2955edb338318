// What a command finds in its environment.

#include "cli/run/environment.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <string>
#include <vector>

using holdfast::fencing_token;
using holdfast::cli::environment_for;

BOOST_AUTO_TEST_SUITE(cli_environment_test)

BOOST_AUTO_TEST_CASE(the_inner_lock_replaces_the_outer_one) {
    std::array<char const*, 5> const own{
        "HOLDFAST_URL=redis://a",
        "HOLDFAST_NAME=outer",
        "A=7",
        "HOLDFAST_TOKEN=1",
        nullptr,
    };
    std::vector<std::string> const expected{
        "HOLDFAST_URL=redis://a",
        "A=7",
        "HOLDFAST_NAME=inner",
        "HOLDFAST_TOKEN=42",
    };
    auto const all = environment_for(own.data(), "inner", fencing_token{42});
    BOOST_TEST(all == expected, boost::test_tools::per_element());
    BOOST_TEST(environment_for(nullptr, "a", {}).size() == 2U);
}

BOOST_AUTO_TEST_SUITE_END()
