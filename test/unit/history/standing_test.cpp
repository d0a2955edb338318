// Who may have something of one lock beside another.
#include "support/history/standing.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace holdfast::history;

BOOST_AUTO_TEST_CASE(who_may_stand_beside_whom) {
    using entry = standing<int>::one;
    entry const writer{.who = 1, .holder = "w", .token = 5};
    entry const reader{.who = 1, .how = mode::reads, .holder = "r"};
    entry const permits{.who = 1, .how = mode::permits, .holder = "p", .permits = 2};
    struct {
        entry one;
        entry other;
        bool fine;
    } const rows[] = {
        {writer, {.who = 2, .holder = "w", .token = 5}, true},
        {writer, {.who = 2, .holder = "w", .token = 6}, false},
        {writer, {.who = 2, .holder = "x", .token = 5}, false},
        {writer, {.who = 2, .how = mode::reads, .holder = "r"}, false},
        {writer, {.who = 2, .how = mode::reads, .holder = "w"}, false},
        {writer, {.who = 2, .how = mode::reads, .holder = "r", .writes_as = "w"}, true},
        {writer, {.who = 2, .how = mode::reads, .holder = "r", .writes_as = "x"}, false},
        {{.who = 1}, {.who = 2, .how = mode::reads, .holder = "r"}, false},
        {reader, {.who = 2, .how = mode::reads, .holder = "s"}, true},
        {permits, {.who = 2, .how = mode::permits, .holder = "q", .permits = 9}, true},
    };
    for (auto const& row : rows) {
        for (bool const in_order : {true, false}) {
            auto const& first = in_order ? row.one : row.other;
            auto const& second = in_order ? row.other : row.one;
            std::vector<int> clashes;
            auto const note = [&](int who) { clashes.push_back(who); };
            standing<int> all;
            all.add(first, note);
            all.add(second, note);
            std::vector<int> const expected(row.fine ? 0 : 1, first.who);
            BOOST_TEST_CONTEXT("row " << &row - rows << (in_order ? "" : ", the other way round")) {
                BOOST_TEST(clashes == expected, boost::test_tools::per_element());
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(who_is_over_stands_in_the_way_of_nobody) {
    standing<int> all;
    int clashes = 0;
    auto const note = [&](int) { ++clashes; };
    all.add({.who = 1, .holder = "a"}, note);
    all.add({.who = 2, .holder = "a"}, note);
    all.erase_if([](int who) { return who == 1; });
    all.add({.who = 3, .holder = "b"}, note);
    BOOST_TEST(clashes == 1);
    all.erase_if([](int) { return true; });
    all.add({.who = 4, .holder = "c"}, note);
    BOOST_TEST(clashes == 1);
}

BOOST_AUTO_TEST_CASE(all_leases_of_a_holder_have_its_permits_together) {
    standing<int> all;
    auto const ignore = [](int) {};
    all.add({.who = 1, .how = mode::permits, .holder = "a", .permits = 3}, ignore);
    all.add({.who = 2, .how = mode::permits, .holder = "a", .permits = 3}, ignore);
    all.add({.who = 3, .how = mode::permits, .holder = "b", .permits = 2}, ignore);
    struct {
        int left_out;
        std::size_t holders;
        std::int64_t permits;
    } const rows[] = {{0, 2, 5}, {1, 2, 5}, {2, 2, 5}, {3, 1, 3}};
    for (auto const& row : rows) {
        auto const share = all.taken([&](int who) { return who != row.left_out; });
        BOOST_TEST(share.holders == row.holders);
        BOOST_TEST(share.permits == row.permits);
    }
}
