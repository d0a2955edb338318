// How long people write that something takes.

#include "cli/duration.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <optional>

using namespace std::chrono_literals;
using holdfast::cli::format_duration;
using holdfast::cli::parse_duration;
using std::chrono::milliseconds;

BOOST_AUTO_TEST_SUITE(cli_duration_test)

BOOST_AUTO_TEST_CASE(units_are_read) {
    BOOST_TEST((parse_duration("500ms") == 500ms));
    BOOST_TEST((parse_duration("10s") == 10s));
    BOOST_TEST((parse_duration("10") == 10s));
    BOOST_TEST((parse_duration("0") == 0ms));
    BOOST_TEST((parse_duration("0.25") == 250ms));
    BOOST_TEST((parse_duration("1.5h") == 90min));
    BOOST_TEST((parse_duration("1m30s") == 90s));
    BOOST_TEST((parse_duration("2d3h4m5s6ms") == 51h + 4min + 5006ms));
}

BOOST_AUTO_TEST_CASE(what_is_no_duration_is_refused) {
    for (auto const* const text :
         {"", "s", "10x", "-1s", "1s1m", "1s1s", "10 s", "1m30", "1..5s", "1e3", "nan", "99999999d"
         }) {
        BOOST_TEST(!parse_duration(text), text);
    }
}

BOOST_AUTO_TEST_CASE(two_units_are_written) {
    BOOST_TEST(format_duration(37us) == "37us");
    BOOST_TEST(format_duration(850ms) == "850ms");
    BOOST_TEST(format_duration(27'390ms) == "27.3s");
    BOOST_TEST(format_duration(59'999ms) == "59.9s");
    BOOST_TEST(format_duration(252s) == "4m 12s");
    BOOST_TEST(format_duration(3h + 5min + 59s) == "3h 5m");
    BOOST_TEST(format_duration(49h) == "2d 1h");
}

BOOST_AUTO_TEST_SUITE_END()
