#include "cli/list_report.hpp"

#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <vector>

using namespace holdfast::cli;
using namespace std::chrono_literals;
using holdfast::lock_info;

namespace {

std::string const holder = "8766556d-3dc3-4c66-bafa-c88ac2e160f9:17";

lock_info held_by(std::string id) {
    lock_info info;
    info.held = true;
    info.holder = std::move(id);
    info.hold_count = 1;
    info.remaining = 27'900ms;
    info.last_token.value = 1'795'657'452'000'000;
    return info;
}

listed_lock held() {
    listed_lock row{.name = "stock:7"};
    row.what.kind = lock_kind::lock;
    row.what.lock = held_by(holder);
    row.what.lock->waiting_clients = 1;
    row.client = {"shop", "10.0.0.1:5000"};
    row.age = 3s;
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
    row.what.kind = lock_kind::read_write_lock;
    row.what.readers = held_by("other");
    row.what.readers->readers = 2;
    row.what.readers->remaining.reset();
    auto const lines = lines_of(table_of({row}, style{}));
    BOOST_REQUIRE(lines.size() == 3U);
    BOOST_TEST(lines[1].find("read_write_lock") != std::string::npos);
    BOOST_TEST(lines[1].find(holder + " (write)") != std::string::npos);
    BOOST_TEST(lines[2].starts_with("         "));
    BOOST_TEST(lines[2].find("other (one of 2 readers)") != std::string::npos);
    BOOST_TEST(lines[2].find("for ever") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_nobody_holds_says_what_it_is) {
    listed_lock semaphore{.name = "s", .what = {.kind = lock_kind::semaphore}};
    semaphore.what.permits.emplace();
    semaphore.what.permits->available = 3;
    semaphore.what.permits->acquired = 2;
    listed_lock latch{.name = "l", .what = {.kind = lock_kind::latch, .number = 2}};
    latch.what.listeners = 4;
    listed_lock waited_for{.name = "w", .what = {.kind = lock_kind::lock}};
    auto const lines = lines_of(table_of({semaphore, latch, waited_for}, style{}));
    BOOST_REQUIRE(lines.size() == 4U);
    BOOST_TEST(lines[1].find("3 free, 2 taken") != std::string::npos);
    BOOST_TEST(lines[2].find("count 2") != std::string::npos);
    BOOST_TEST(lines[2].ends_with("4"), lines[2]);
    BOOST_TEST(lines[3].find("free") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_name_does_not_reach_the_terminal_as_it_is) {
    auto const text = table_of({{.name = "a\x1b[2J\n"}}, style{});
    BOOST_TEST(text.find("a\\x1b[2J\\x0a") != std::string::npos);
    BOOST_TEST(text.find('\x1b') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(json_is_that_of_inspect_with_the_age_and_the_server) {
    BOOST_TEST(
        boost::json::serialize(json_of(held())) ==
        R"({"name":"stock:7","kind":"lock","held":true,"waiting":1,"holder":")" + holder +
            R"(","hold_count":1,"remaining_ms":27900,"never_expires":false,)"
            R"("last_token":1795657452000000,"client":{"name":"shop","address":"10.0.0.1:5000"},)"
            R"("age_ms":3000,"server":"10.0.0.9:6379"})"
    );
}
