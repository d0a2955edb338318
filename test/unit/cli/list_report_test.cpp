#include "cli/list_report.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <vector>

using namespace holdfast::cli;
using namespace std::chrono_literals;

namespace {

std::string const holder = "8766556d-3dc3-4c66-bafa-c88ac2e160f9:17";

lock_row held() {
    lock_row row{.name = "stock:7"};
    row.holders = {{.id = holder, .remaining = 27'900ms, .who = {"shop", "10.0.0.1:5000"}}};
    row.token = 1'795'657'452'000'000;
    row.age = 3s;
    row.waiting = 1;
    row.server = "10.0.0.9:6379";
    return row;
}

std::vector<std::string> lines_of(std::string const& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
        lines.push_back(text.substr(at, text.find('\n', at) - at));
    }
    return lines;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_lock_has_a_line) {
    auto const lines = lines_of(table_of({held()}, style{}));
    BOOST_REQUIRE(lines.size() == 2U);
    BOOST_TEST(lines[0].starts_with("NAME     KIND  HOLDER"));
    BOOST_TEST(
        lines[1] == "stock:7  lock  " + holder +
                        "  27.9s  3.0s  1795657452000000  1        shop at 10.0.0.1:5000"
    );
}

BOOST_AUTO_TEST_CASE(a_read_write_lock_has_a_line_for_each_side) {
    auto row = held();
    row.kind = row_kind::read_write_lock;
    row.readers = 2;
    row.holders.front().side = "write";
    row.holders.push_back({.id = "other", .side = "read"});
    auto const lines = lines_of(table_of({row}, style{}));
    BOOST_REQUIRE(lines.size() == 3U);
    BOOST_TEST(lines[1].find(holder + " (write)") != std::string::npos);
    BOOST_TEST(lines[2].starts_with("         "));
    BOOST_TEST(lines[2].find("other (one of 2 readers)") != std::string::npos);
    BOOST_TEST(lines[2].find("for ever") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_nobody_holds_says_what_it_is) {
    lock_row semaphore{.name = "s", .kind = row_kind::semaphore, .taken = 2, .number = 3};
    lock_row latch{.name = "l", .kind = row_kind::latch, .number = 2};
    lock_row waited_for{.name = "w", .waiting = 1};
    auto const lines = lines_of(table_of({semaphore, latch, waited_for}, style{}));
    BOOST_REQUIRE(lines.size() == 4U);
    BOOST_TEST(lines[1].find("3 free, 2 taken") != std::string::npos);
    BOOST_TEST(lines[2].find("count 2") != std::string::npos);
    BOOST_TEST(lines[3].find("free") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_name_does_not_reach_the_terminal_as_it_is) {
    auto const text = table_of({{.name = "a\x1b[2J\n"}}, style{});
    BOOST_TEST(text.find("a\\x1b[2J\\x0a") != std::string::npos);
    BOOST_TEST(text.find('\x1b') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(json_has_a_lock_in_a_line) {
    BOOST_TEST(
        json_of(held()) ==
        R"({"name":"stock:7","kind":"lock","server":"10.0.0.9:6379","holders":[{"id":")" + holder +
            R"(","program":"shop","address":"10.0.0.1:5000","count":1,"remaining_ms":27900}],)"
            R"("token":1795657452000000,"age_ms":3000,"waiting":1})"
    );
    lock_row shared{.name = "\xff", .kind = row_kind::read_write_lock, .readers = 2};
    shared.holders = {{.id = "x", .side = "read"}};
    auto const text = json_of(shared);
    BOOST_TEST(text.find(R"("side":"read")") != std::string::npos, text);
    BOOST_TEST(text.find(R"("remaining_ms":null)") != std::string::npos, text);
    BOOST_TEST(text.find(R"("readers":2)") != std::string::npos, text);
    auto const permits =
        json_of({.name = "s", .kind = row_kind::semaphore, .taken = 2, .number = 3});
    BOOST_TEST(permits.find(R"("taken":2,"number":3)") != std::string::npos, permits);
}
