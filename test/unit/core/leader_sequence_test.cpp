// What an observer of an election is told: each leader once and in order, that nobody leads, and
// that it has missed some.

#include "core/leader_sequence.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using holdfast::detail::leader_look;
using holdfast::detail::leader_place;
using holdfast::detail::leader_record;
using holdfast::detail::leader_sequence;

namespace {

// Each leader has ten times its number as its term.
leader_record leader(std::uint64_t number) {
    return {{number, {number * 10}, 1}, {{number * 10}, "v" + std::to_string(number), "h"}};
}

leader_look found(std::vector<leader_record> all, bool leading = true) {
    leader_look made;
    made.held = leading;
    made.leading = leading;
    made.newest = all.back().place;
    made.found = std::move(all);
    return made;
}

// Nothing since this one.
leader_look unchanged(std::uint64_t number, bool leading) {
    auto made = found({leader(number)}, leading);
    made.found.clear();
    return made;
}

std::string told(leader_sequence& to, leader_look what) {
    auto const result = to.on_look(std::move(what));
    std::string all;
    for (auto const& one : result.changes) {
        all += one.missed ? " missed" : "";
        all += one.leader ? " " + one.leader.value : " nobody";
    }
    return all + (result.more ? " more" : "");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(leader_sequence_test)

BOOST_AUTO_TEST_CASE(it_begins_with_who_leads_now) {
    leader_sequence one;
    BOOST_TEST(!one.seen().has_value());
    BOOST_TEST(one.is_news(leader(5).place));
    BOOST_TEST(told(one, found({leader(5)})) == " v5");
    BOOST_TEST((one.seen() == leader(5).place));
    leader_sequence other;
    BOOST_TEST(told(other, found({leader(5)}, false)) == " nobody");
    BOOST_TEST((other.seen() == leader(5).place));
    BOOST_TEST(told(other, found({leader(6)})) == " v6");
    leader_sequence first;
    BOOST_TEST(told(first, leader_look{}) == " nobody");
    // From now on it wants all.
    BOOST_TEST((first.seen() == leader_place{}));
    BOOST_TEST(told(first, found({leader(1)})) == " v1");
}

BOOST_AUTO_TEST_CASE(each_is_told_once_and_in_order) {
    leader_sequence one;
    told(one, found({leader(5)}));
    BOOST_TEST(told(one, unchanged(5, true)) == "");
    BOOST_TEST(told(one, found({leader(6), leader(7)})) == " v6 v7");
    BOOST_TEST(told(one, unchanged(7, true)) == "");
    BOOST_TEST(!one.is_news(leader(7).place));
    BOOST_TEST(!one.is_news(leader(6).place));
    BOOST_TEST(one.is_news(leader(8).place));
}

BOOST_AUTO_TEST_CASE(another_value_of_a_leader_is_told_like_a_leader) {
    leader_sequence one;
    told(one, found({leader(5)}));
    auto again = leader(5);
    again.place.number = 6;
    again.place.change = 2;
    BOOST_TEST(one.is_news(again.place));
    BOOST_TEST(told(one, found({again})) == " v5");
    BOOST_TEST(!one.is_news(leader(5).place));
}

BOOST_AUTO_TEST_CASE(that_nobody_leads_is_told_once_and_behind_the_leaders) {
    leader_sequence one;
    told(one, found({leader(5)}));
    BOOST_TEST(told(one, unchanged(5, false)) == " nobody");
    BOOST_TEST(told(one, unchanged(5, false)) == "");
    BOOST_TEST(told(one, found({leader(6), leader(7)}, false)) == " v6 v7 nobody");
    BOOST_TEST(told(one, found({leader(8)})) == " v8");
}

BOOST_AUTO_TEST_CASE(what_is_behind_the_found_ones_is_looked_for_before_anything_else_is_told) {
    leader_sequence one;
    told(one, found({leader(5)}));
    auto some = found({leader(6), leader(7)}, false);
    some.newest = leader(9).place;
    BOOST_TEST(told(one, std::move(some)) == " v6 v7 more");
    BOOST_TEST(told(one, found({leader(8), leader(9)}, false)) == " v8 v9 nobody");
}

BOOST_AUTO_TEST_CASE(what_is_missing_is_told_with_the_next_one) {
    leader_sequence one;
    told(one, found({leader(5)}));
    auto some = found({leader(8), leader(9)});
    some.missed = true;
    BOOST_TEST(told(one, std::move(some)) == " missed v8 v9");
    BOOST_TEST(told(one, found({leader(10)})) == " v10");
}

BOOST_AUTO_TEST_CASE(a_server_that_has_forgotten_the_leader_has_none) {
    leader_sequence one;
    told(one, found({leader(5)}));
    // The one before it has the lock there.
    BOOST_TEST(told(one, unchanged(4, true)) == " nobody");
    BOOST_TEST((one.seen() == leader(5).place));
    leader_sequence other;
    told(other, found({leader(5)}));
    BOOST_TEST(told(other, leader_look{}) == " nobody");
}

BOOST_AUTO_TEST_CASE(a_leader_that_a_server_has_again_is_told_again) {
    leader_sequence one;
    told(one, found({leader(5)}));
    told(one, unchanged(5, false));
    BOOST_TEST(told(one, unchanged(5, true)) == " more");
    BOOST_TEST(!one.seen().has_value());
    BOOST_TEST(told(one, found({leader(5)})) == " missed v5");
    BOOST_TEST(told(one, unchanged(5, true)) == "");
}

BOOST_AUTO_TEST_SUITE_END()
