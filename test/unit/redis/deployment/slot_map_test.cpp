// Who has which slot: what nodes answer, what they say of one slot, and what has changed.

#include "redis/deployment/slot_map.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

using holdfast::config;
using holdfast::detail::script_reply;
using holdfast::detail::slot_map;

namespace {

struct fixture {
    slot_map map;
    std::uint32_t seed = map.number_of({"seed", 1});
    std::set<std::uint32_t> within_reach;

    std::uint32_t number(char const* host, std::uint16_t port) {
        return map.number_of({host, port});
    }
    bool answers(std::string const& words) { return answers(seed, words); }
    bool answers(std::uint32_t by, std::string const& words) {
        return map.on_answer(by, script_reply{"42" + words}, [this](auto server) {
            return within_reach.contains(server);
        });
    }
    std::vector<std::uint32_t> forget() {
        return map.forget_unless([this](auto server) { return server == seed; });
    }
    std::string owner(std::uint16_t slot) const {
        auto const server = map.server_of(slot);
        return server ? map.address(*server).host : "nobody";
    }
};

std::string const two_halves = " 0 8191 a 7000 8192 16383 b 7001";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(slot_map_test, fixture)

BOOST_AUTO_TEST_CASE(at_first_nobody_has_anything) {
    BOOST_TEST(!map.known());
    BOOST_TEST(!map.complete());
    BOOST_TEST(owner(0) == "nobody");
    BOOST_TEST(!map.any_primary());
}

BOOST_AUTO_TEST_CASE(a_node_says_who_has_what) {
    BOOST_TEST(answers(two_halves));
    BOOST_TEST(map.known());
    BOOST_TEST(map.complete());
    BOOST_TEST(owner(0) == "a");
    BOOST_TEST(owner(8191) == "a");
    BOOST_TEST(owner(8192) == "b");
    BOOST_TEST(owner(16383) == "b");
    BOOST_TEST(!map.is_primary(seed));
    BOOST_TEST(map.is_primary(number("a", 7000)));
    BOOST_TEST(map.any_primary().value() == number("a", 7000));
}

BOOST_AUTO_TEST_CASE(a_node_that_does_not_know_its_own_host_has_the_one_it_was_asked_at) {
    BOOST_TEST(answers(" 0 16383 - 7000"));
    BOOST_TEST((map.address(map.server_of(5).value()) == config::address{"seed", 7000}));
}

BOOST_AUTO_TEST_CASE(a_gap_is_not_complete) {
    BOOST_TEST(answers(" 0 100 a 7000 102 16383 b 7001"));
    BOOST_TEST(map.known());
    BOOST_TEST(!map.complete());
    BOOST_TEST(owner(101) == "nobody");
    BOOST_TEST(answers(two_halves));
    BOOST_TEST(map.complete());
    BOOST_TEST(answers(""));
    BOOST_TEST(!map.any_primary());
}

BOOST_AUTO_TEST_CASE(what_is_no_such_answer_changes_nothing) {
    BOOST_TEST(answers(two_halves));
    for (std::string const wrong :
         {" 0", " 0 5", " 0 5 a", " 5 0 a 1", " 0 16384 a 1", " x 5 a 1", " 0 5 a 0", " 0 5 a 70000"
         }) {
        BOOST_TEST(!answers(wrong), wrong);
    }
    BOOST_TEST(map.complete());
}

BOOST_AUTO_TEST_CASE(a_slot_that_has_moved_is_not_moved_back_by_who_has_not_heard_of_it) {
    BOOST_TEST(answers(two_halves));
    auto const a = number("a", 7000);
    auto const b = number("b", 7001);
    map.on_moved(7, b);
    within_reach = {b};
    BOOST_TEST(answers(two_halves));
    BOOST_TEST(owner(7) == "b");
    // The server that is named is to be asked, each time anew.
    BOOST_TEST((map.take_named() == std::set{a}));
    BOOST_TEST(map.take_named().empty());
    BOOST_TEST(answers(two_halves));
    BOOST_TEST((map.take_named() == std::set{a}));
    BOOST_TEST(answers(a, " 0 6 a 7000 7 16383 b 7001"));
    BOOST_TEST(owner(7) == "b");
    BOOST_TEST(answers(a, two_halves));
    BOOST_TEST(owner(7) == "a");
    BOOST_TEST(map.take_named().empty());
}

BOOST_AUTO_TEST_CASE(who_cannot_be_reached_is_not_defended) {
    BOOST_TEST(answers(two_halves));
    map.on_moved(7, number("b", 7001));
    BOOST_TEST(answers(two_halves));
    BOOST_TEST(owner(7) == "a");
    BOOST_TEST(map.take_named().empty());
}

BOOST_AUTO_TEST_CASE(a_slot_that_nobody_is_said_to_have_is_asked_after_where_it_was) {
    BOOST_TEST(answers(two_halves));
    within_reach = {number("a", 7000)};
    BOOST_TEST(answers(" 8192 16383 b 7001"));
    BOOST_TEST(map.complete());
    BOOST_TEST((map.take_named() == within_reach));
    BOOST_TEST(answers(number("a", 7000), " 8192 16383 b 7001"));
    BOOST_TEST(owner(7) == "nobody");
}

BOOST_AUTO_TEST_CASE(who_has_a_slot_knows_when_that_is_over) {
    BOOST_TEST(answers(two_halves));
    auto const b = number("b", 7001);
    map.on_moved(7, b);
    within_reach = {number("a", 7000), b};
    BOOST_TEST(answers(b, " 0 6 a 7000 7 7 c 7002 8 16383 b 7001"));
    BOOST_TEST(owner(7) == "c");
}

BOOST_AUTO_TEST_CASE(who_has_a_slot_knows_it_before_others_do) {
    BOOST_TEST(answers(two_halves));
    within_reach = {number("a", 7000), number("b", 7001)};
    BOOST_TEST(answers(number("b", 7001), " 0 6 a 7000 7 16383 b 7001"));
    BOOST_TEST(owner(7) == "b");
}

BOOST_AUTO_TEST_CASE(the_last_word_on_one_slot_counts) {
    BOOST_TEST(answers(two_halves));
    map.on_moved(7, number("b", 7001));
    map.on_moved(7, number("c", 7002));
    BOOST_TEST(owner(7) == "c");
    BOOST_TEST(map.is_primary(number("c", 7002)));
    map.on_moved(7, number("a", 7000));
    BOOST_TEST(!map.is_primary(number("c", 7002)));
    BOOST_TEST(map.complete());
}

BOOST_AUTO_TEST_CASE(what_has_changed_is_told_once) {
    BOOST_TEST(answers(two_halves));
    auto const all = map.take_moves();
    BOOST_REQUIRE(all.size() == 2U);
    BOOST_TEST(all[0].first == 0);
    BOOST_TEST(all[0].last == 8'191);
    BOOST_TEST(!all[0].from.has_value());
    BOOST_TEST(all[1].first == 8'192);
    BOOST_TEST(all[1].last == 16'383);
    BOOST_TEST(answers(two_halves));
    BOOST_TEST(map.take_moves().empty());
    map.on_moved(7, number("b", 7001));
    auto const moves = map.take_moves();
    BOOST_REQUIRE(moves.size() == 1U);
    BOOST_TEST(moves[0].first == 7);
    BOOST_TEST(moves[0].last == 7);
    BOOST_TEST(moves[0].from.value() == number("a", 7000));
    BOOST_TEST(moves[0].to.value() == number("b", 7001));
    BOOST_TEST(map.take_moves().empty());
}

BOOST_AUTO_TEST_CASE(a_replica_that_takes_over_is_told_from_slots_that_are_moved) {
    auto const a = number("a", 7000);
    auto const b = number("b", 7001);
    auto const c = number("c", 7002);
    BOOST_TEST(answers(two_halves));
    BOOST_TEST(map.take_successions().empty());
    // A new server gets a slot, and then another.
    BOOST_TEST(answers(" 0 8190 a 7000 8191 8191 c 7002 8192 16383 b 7001"));
    BOOST_TEST(answers(" 0 8189 a 7000 8190 8191 c 7002 8192 16383 b 7001"));
    BOOST_TEST(map.take_successions().empty());
    // The last slots of a server are moved to one that has some.
    BOOST_TEST(answers(" 0 8191 c 7002 8192 16383 b 7001"));
    BOOST_TEST(map.take_successions().empty());
    // One that had none has all of them.
    BOOST_TEST(answers(" 0 8191 a 7000 8192 16383 b 7001"));
    BOOST_TEST((map.take_successions() == std::set<slot_map::succession>{{c, a}}));
    BOOST_TEST(map.take_successions().empty());
    // So it has if a node said so of one slot first.
    map.on_moved(9000, c);
    BOOST_TEST(map.take_successions().empty());
    BOOST_TEST(answers(" 0 8191 a 7000 8192 16383 c 7002"));
    BOOST_TEST((map.take_successions() == std::set<slot_map::succession>{{b, c}}));
    // Also of the only one that there is.
    BOOST_TEST(answers(" 0 8191 a 7000 9000 9000 c 7002"));
    map.on_moved(9000, b);
    BOOST_TEST(answers(" 0 8191 a 7000 9000 9000 b 7001"));
    BOOST_TEST((map.take_successions() == std::set<slot_map::succession>{{c, b}}));
}

// Whoever has it got it from the replica, which may not have had all that was in it.
BOOST_AUTO_TEST_CASE(a_slot_that_moves_on_after_a_failover_has_failed_over) {
    auto const a = number("a", 7000);
    auto const b = number("b", 7001);
    auto const c = number("c", 7002);
    BOOST_TEST(answers(two_halves));
    BOOST_TEST(map.take_successions().empty());
    map.on_moved(7, b);
    BOOST_TEST(map.take_successions().empty());
    static_cast<void>(map.take_moves());
    BOOST_TEST(answers(" 0 6 c 7002 7 7 b 7001 8 8191 c 7002 8192 16383 b 7001"));
    BOOST_TEST((map.take_successions() == std::set<slot_map::succession>{{a, b}, {a, c}}));
    // Whoever heard of the move is told again.
    auto const moves = map.take_moves();
    BOOST_TEST(std::count_if(moves.begin(), moves.end(), [&](auto const& one) {
                   return one.first == 7 && one.last == 7 && one.from == a && one.to == b;
               }) == 1);
}

BOOST_AUTO_TEST_CASE(a_server_that_has_just_got_a_slot_may_lose_its_place) {
    auto const a = number("a", 7000);
    auto const c = number("c", 7002);
    BOOST_TEST(answers(two_halves));
    within_reach = {a};
    map.on_moved(9000, a);
    BOOST_TEST(answers(c, " 0 8191 c 7002 8192 16383 b 7001"));
    BOOST_TEST((map.take_successions() == std::set<slot_map::succession>{{a, c}}));
}

// A node that has not heard of it answers in between.
BOOST_AUTO_TEST_CASE(a_failover_is_found_however_many_have_not_heard_of_it) {
    auto const a = number("a", 7000);
    auto const c = number("c", 7002);
    auto const after = " 0 8191 c 7002 8192 16383 b 7001";
    BOOST_TEST(answers(two_halves));
    within_reach = {a, number("b", 7001), c};
    map.on_moved(7, c);
    BOOST_TEST(answers(two_halves));
    BOOST_TEST(map.take_successions().empty());
    // One that has heard of it is not believed before one of the two says so.
    BOOST_TEST(answers(after));
    BOOST_TEST(map.take_successions().empty());
    BOOST_TEST(owner(8) == "a");
    BOOST_TEST((map.take_named() == std::set{a, c}));
    BOOST_TEST(answers(c, after));
    BOOST_TEST((map.take_successions() == std::set<slot_map::succession>{{a, c}}));
    BOOST_TEST(owner(8) == "c");
    // And there is none back.
    BOOST_TEST(answers(two_halves));
    BOOST_TEST(map.take_successions().empty());
    BOOST_TEST(owner(8) == "c");
}

// The node that tells of it has given one of its own slots to the one that takes over.
BOOST_AUTO_TEST_CASE(a_slot_that_moves_at_the_same_time_hides_no_failover) {
    auto const a = number("a", 7000);
    auto const b = number("b", 7001);
    auto const c = number("c", 7002);
    auto const after = " 0 8191 c 7002 8192 8999 b 7001 9000 9000 c 7002 9001 16383 b 7001";
    BOOST_TEST(answers(two_halves));
    within_reach = {a, b, c};
    BOOST_TEST(answers(b, after));
    BOOST_TEST(owner(9000) == "c");
    BOOST_TEST(owner(8) == "a");
    BOOST_TEST(map.take_successions().empty());
    BOOST_TEST(answers(c, after));
    BOOST_TEST((map.take_successions() == std::set<slot_map::succession>{{a, c}}));
}

BOOST_AUTO_TEST_CASE(doubt_of_some_slots_hides_no_failover_of_others) {
    auto const b = number("b", 7001);
    auto const c = number("c", 7002);
    auto const d = number("d", 7003);
    BOOST_TEST(answers(two_halves));
    within_reach = {number("a", 7000), b, c, d};
    BOOST_TEST(answers(d, " 0 8191 a 7000 8192 16383 d 7003"));
    BOOST_TEST((map.take_successions() == std::set<slot_map::succession>{{b, d}}));
    // The one has not heard of the other.
    BOOST_TEST(answers(c, " 0 8191 c 7002 8192 16383 b 7001"));
    BOOST_TEST((map.take_successions() == std::set<slot_map::succession>{{number("a", 7000), c}}));
    BOOST_TEST(owner(9000) == "d");
}

BOOST_AUTO_TEST_CASE(a_server_keeps_its_number) {
    auto const a = number("a", 7000);
    BOOST_TEST(number("a", 7001) != a);
    BOOST_TEST(number("b", 7000) != a);
    BOOST_TEST(number("a", 7000) == a);
    BOOST_TEST(map.servers().size() == 4U);
}

BOOST_AUTO_TEST_CASE(an_address_that_no_node_names_is_forgotten) {
    BOOST_TEST(answers(two_halves));
    auto const b = number("b", 7001);
    BOOST_TEST(forget().empty());
    BOOST_TEST(answers(" 0 8191 a 7000 8192 16383 c 7002"));
    BOOST_TEST(forget() == std::vector{b}, boost::test_tools::per_element());
    BOOST_TEST(!map.knows(b));
    BOOST_TEST(!map.is_primary(b));
    BOOST_TEST(map.servers().size() == 3U);
    // What is said of its number later is not about the server that is there next.
    BOOST_TEST(number("b", 7001) > b);
}

BOOST_AUTO_TEST_CASE(addresses_in_an_answer_that_is_no_such_answer_are_forgotten) {
    BOOST_TEST(answers(two_halves));
    BOOST_TEST(!answers(" 0 5 c 7002 6"));
    BOOST_TEST(map.servers().size() == 4U);
    BOOST_TEST(forget().size() == 1U);
}

// Until an answer has said what became of all its slots, a failover could not be told.
BOOST_AUTO_TEST_CASE(a_server_is_known_until_it_is_known_who_has_its_slots) {
    BOOST_TEST(answers(" 0 0 a 7000 1 16383 b 7001"));
    auto const a = number("a", 7000);
    auto const c = number("c", 7002);
    map.on_moved(0, c);
    BOOST_TEST(!map.is_primary(a));
    BOOST_TEST(forget().empty());
    BOOST_TEST(answers(" 0 0 c 7002 1 16383 b 7001"));
    BOOST_TEST((map.take_successions() == std::set<slot_map::succession>{{a, c}}));
    BOOST_TEST(forget() == std::vector{a}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
