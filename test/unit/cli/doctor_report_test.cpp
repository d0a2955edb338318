#include "cli/doctor_report.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

using namespace holdfast::cli;

namespace {

std::vector<examination> const some{
    {"10.0.0.1:6379",
     {good("version", "Redis 7.0.15, RESP3"),
      warning("persistence", "nothing is written to disk", "set appendonly yes"),
      fault("eviction", "maxmemory-policy is allkeys-lru", "noeviction")}},
};

}  // namespace

BOOST_AUTO_TEST_CASE(each_finding_has_a_line_and_a_hint_one_more) {
    std::string const expected =
        "10.0.0.1:6379\n"
        "  ok       version      Redis 7.0.15, RESP3\n"
        "  warning  persistence  nothing is written to disk\n"
        "                        → set appendonly yes\n"
        "  fault    eviction     maxmemory-policy is allkeys-lru\n"
        "                        → noeviction\n"
        "1 fault, 1 warning\n";
    BOOST_TEST(report_of(some, style{}) == expected);
}

BOOST_AUTO_TEST_CASE(a_quiet_report_leaves_out_what_is_well) {
    auto const text = report_of(some, style{}, true);
    BOOST_TEST(text.find("version") == text.npos);
    BOOST_TEST(text.find("eviction") != text.npos);
    BOOST_TEST(report_of({{"a", {good("version", "x")}}}, style{}, true) == "a\nno fault found\n");
}

BOOST_AUTO_TEST_CASE(colours_do_not_move_columns) {
    auto const text = report_of(some, style{true});
    BOOST_TEST(text.find("\x1b[31mfault  \x1b[0m  eviction") != text.npos, text);
}

BOOST_AUTO_TEST_CASE(json_has_everything_in_one_line) {
    BOOST_TEST(
        json_of(some) ==
        R"({"worst":"fault","findings":[)"
        R"({"server":"10.0.0.1:6379","check":"version","severity":"ok","text":"Redis 7.0.15, RESP3"},)"
        R"({"server":"10.0.0.1:6379","check":"persistence","severity":"warning","text":"nothing is written to disk","hint":"set appendonly yes"},)"
        R"({"server":"10.0.0.1:6379","check":"eviction","severity":"fault","text":"maxmemory-policy is allkeys-lru","hint":"noeviction"}]})"
    );
    BOOST_TEST(json_of(std::vector<examination>{}) == R"({"worst":"ok","findings":[]})");
}

BOOST_AUTO_TEST_CASE(only_a_fault_is_a_failure) {
    BOOST_TEST((exit_code_of(some) == exit_code::failure));
    BOOST_TEST((exit_code_of({{"a", {warning("b", "c", "d")}}}) == exit_code::success));
    BOOST_TEST((exit_code_of(std::vector<examination>{}) == exit_code::success));
}
