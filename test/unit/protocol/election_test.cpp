// How the library speaks of an election: its keys, which script gets which keys and arguments, and
// what the scripts do.

#include "protocol/election.hpp"

#include "protocol/slot.hpp"
#include "unit/calls.hpp"
#include "unit/protocol/on_model.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

using namespace std::chrono_literals;
using holdfast::config;
using holdfast::detail::election_keys;
using holdfast::detail::holder_id;
using holdfast::detail::leader_look;
using holdfast::detail::leader_place;
using holdfast::detail::look;
using holdfast::detail::make_election_keys;
using holdfast::detail::proclaim_reply;
using holdfast::detail::read_announcement;
using holdfast::detail::read_look;
using holdfast::detail::read_proclaim;
using holdfast::detail::slot_of;
using holdfast::test::on_model;
using holdfast::test::reply_of;
using holdfast::test::typed;

namespace {

using kind = proclaim_reply::kind;

auto const on = make_election_keys({}, "E");

holder_id id(std::uint64_t number) {
    return holder_id::of_number("0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", number);
}

struct world : on_model {
    world() : on_model{on.channel} {}

    void give_lock_to(std::uint64_t holder) {
        ask({"DEL", "E"});
        ask({"HSET", "E", id(holder).view(), "1"});
        ask({"PEXPIRE", "E", "30000"});
    }
    // The term is a thousand times the holder's number.
    kind proclaim(
        std::uint64_t holder,
        std::string_view value,
        std::uint64_t change = 1,
        std::chrono::milliseconds ttl = 24h
    ) {
        auto const who = id(holder);
        auto const what =
            holdfast::detail::proclaim({on, who, {holder * 1'000}, change, value, ttl, 3s});
        auto const read = read_proclaim(run(what));
        notified = read.notified;
        return read.what;
    }
    void lead(std::uint64_t holder, std::string_view value) {
        give_lock_to(holder);
        BOOST_TEST((proclaim(holder, value) == kind::proclaimed));
    }
    std::optional<leader_look> see(std::optional<leader_place> const& seen = {}) {
        return read_look(run(look(on, seen, 3s)));
    }
    /// Values and terms, with what is missing before them.
    std::string since(leader_place const& seen) {
        auto const found = see(seen);
        std::string all = found->missed ? "missed" : "";
        for (auto const& one : found->found) {
            all += (all.empty() ? "" : " ") + one.leader.value + "@" +
                   std::to_string(one.leader.term.value);
        }
        return all;
    }
    leader_place newest() { return see()->newest; }

    bool notified = false;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(election_test)

BOOST_AUTO_TEST_CASE(its_keys_are_those_of_its_lock_and_in_the_slot_of_it) {
    BOOST_TEST(on.lock->lock == "E");
    BOOST_TEST(on.lock->channel() == "redisson_lock__channel:{E}");
    BOOST_TEST(on.history == "holdfast_leaders:{E}");
    BOOST_TEST(on.channel == "holdfast_leader:{E}");
    config cluster;
    cluster.key_prefix = "p:";
    cluster.cluster_nodes = {{"a", 1}};
    auto const tagged = make_election_keys(cluster, "a{b}c");
    BOOST_TEST(tagged.history == "holdfast_leaders:p:a{b}c");
    BOOST_TEST(slot_of(tagged.history) == slot_of(tagged.lock->lock));
    BOOST_TEST(slot_of(tagged.channel) == slot_of(tagged.lock->lock));
    BOOST_TEST(!make_election_keys(cluster, "a{}b").lock->valid());
    BOOST_TEST(!make_election_keys({}, "").lock->valid());
}

BOOST_AUTO_TEST_CASE(the_calls_name_what_they_touch) {
    auto const who = id(5);
    BOOST_TEST(
        typed(holdfast::detail::proclaim({on, who, {7}, 2, "a value", 1min, 3s})) ==
        "election.proclaim 3 E holdfast_leaders:{E} holdfast_leader:{E} " +
            std::string{who.view()} + " 7 2 60000 128 a value"
    );
    BOOST_TEST(
        typed(look(on, leader_place{3, {7}, 2}, 3s)) ==
        "election.look 2 E holdfast_leaders:{E} 3 7 2 32"
    );
    BOOST_TEST(typed(look(on, {}, 3s)) == "election.look 2 E holdfast_leaders:{E}");
}

BOOST_AUTO_TEST_CASE(an_announcement_is_read_or_it_is_none) {
    BOOST_TEST((read_announcement("3 7 2") == leader_place{3, {7}, 2}));
    for (auto const* const none :
         {"", "3", "3 7", "3 7 2 1", "3 7 x", "3  2", "-3 7 2", " 3 7 2"}) {
        BOOST_TEST(!read_announcement(none).has_value(), none);
    }
}

BOOST_AUTO_TEST_CASE(a_reply_that_is_none_is_not_read) {
    BOOST_TEST(!read_look(reply_of(-3)).has_value());
    BOOST_TEST(!read_look(reply_of()).has_value());
    BOOST_TEST(!read_look(reply_of(0, 1, 1, 1, 1, 0, 1, 5, "1 1")).has_value());
    BOOST_TEST(!read_look(reply_of(0, 1, 1, 1, 1, 0, 1, 90, "1 1 1 h v")).has_value());
    BOOST_TEST(!read_look(reply_of(0, 1, 1, 1, 1, 0, 2, 9, "1 1 1 h v")).has_value());
    BOOST_TEST(!read_look(reply_of(0, 1, 1, 1, 1, 0, 1000, 9)).has_value());
    BOOST_TEST(read_look(reply_of(0, 1, 1, 1, 1, 0, 1, 9, "1 1 1 h v"))->found.size() == 1U);
    BOOST_TEST((read_proclaim(reply_of()).what == kind::corrupt));
}

BOOST_AUTO_TEST_CASE(who_has_the_lock_is_announced_and_seen) {
    world all;
    BOOST_TEST(!all.see()->held);
    BOOST_TEST(all.newest().number == 0U);
    all.lead(5, "me");
    BOOST_TEST(all.heard() == "5000 5000 1");
    auto const found = all.see();
    BOOST_TEST(found->held);
    BOOST_TEST(found->leading);
    BOOST_TEST((found->remaining == 30s));
    BOOST_TEST((found->newest == leader_place{5000, {5000}, 1}));
    BOOST_TEST(found->found.at(0).leader.value == "me");
    BOOST_TEST(found->found.at(0).leader.holder == id(5).view());
    BOOST_TEST(found->found.at(0).leader.term.value == 5000U);
    all.ask({"PERSIST", "E"});
    BOOST_TEST(all.see()->held);
    BOOST_TEST(!all.see()->remaining.has_value());
}

BOOST_AUTO_TEST_CASE(whoever_has_not_the_lock_proclaims_nothing) {
    world all;
    BOOST_TEST((all.proclaim(5, "me") == kind::not_leader));
    all.lead(6, "other");
    BOOST_TEST((all.proclaim(5, "me") == kind::not_leader));
    BOOST_TEST((all.proclaim(7, "me") == kind::not_leader));
    BOOST_TEST(all.see()->found.at(0).leader.value == "other");
    all.give_lock_to(7);
    // Nobody leads before its value is there.
    BOOST_TEST(all.see()->held);
    BOOST_TEST(!all.see()->leading);
    BOOST_TEST((all.proclaim(7, "me") == kind::proclaimed));
    BOOST_TEST(all.see()->leading);
    all.ask({"DEL", "E"});
    BOOST_TEST(!all.see()->leading);
    BOOST_TEST((all.proclaim(7, "me") == kind::not_leader));
}

// A client may have given the lock on to another of its own holders: the holder id stays.
BOOST_AUTO_TEST_CASE(what_is_proclaimed_after_a_later_term_began_comes_too_late) {
    world all;
    all.give_lock_to(5);
    auto const who = id(5);
    auto const as = [&](std::uint64_t term, std::string_view value) {
        auto const what = holdfast::detail::proclaim({on, who, {term}, 1, value, 24h, 3s});
        return read_proclaim(all.run(what)).what;
    };
    BOOST_TEST((as(11, "next") == kind::proclaimed));
    BOOST_TEST((as(10, "late") == kind::not_leader));
    BOOST_TEST(all.see()->found.at(0).leader.value == "next");
}

BOOST_AUTO_TEST_CASE(a_request_that_comes_again_adds_nothing) {
    world all;
    all.lead(5, "one");
    all.heard();
    BOOST_TEST((all.proclaim(5, "one") == kind::proclaimed));
    BOOST_TEST((all.proclaim(5, "two", 2) == kind::proclaimed));
    // The first one once more, overtaken.
    BOOST_TEST((all.proclaim(5, "one") == kind::proclaimed));
    BOOST_TEST(all.heard() == "5001 5000 2");
    BOOST_TEST(all.ask({"LLEN", on.history}).number == 2);
    BOOST_TEST(all.see()->found.at(0).leader.value == "two");
}

BOOST_AUTO_TEST_CASE(values_are_of_any_bytes) {
    world all;
    std::string const odd{"\0 \n\xff 1 2 3 h \r\n", 16};
    std::string const longest(election_keys::longest_value, ' ');
    all.lead(5, odd);
    all.lead(6, "");
    all.lead(7, longest);
    BOOST_TEST(all.see()->found.at(0).leader.value == longest);
    auto const found = all.see(leader_place{});
    BOOST_TEST(found->found.at(0).leader.value == odd);
    BOOST_TEST(found->found.at(1).leader.value == "");
    BOOST_TEST(found->found.at(2).leader.value == longest);
}

BOOST_AUTO_TEST_CASE(an_observer_is_told_what_came_since) {
    world all;
    all.lead(5, "a");
    auto const seen = all.newest();
    BOOST_TEST(all.since(seen) == "");
    all.lead(6, "b");
    all.lead(7, "c");
    BOOST_TEST(all.since(seen) == "b@6000 c@7000");
    BOOST_TEST((all.newest() == leader_place{5002, {7000}, 1}));
    BOOST_TEST(all.since({5001, {6000}, 1}) == "c@7000");
    BOOST_TEST(all.since({}) == "a@5000 b@6000 c@7000");
    BOOST_TEST(all.since(all.newest()) == "");
}

BOOST_AUTO_TEST_CASE(the_history_keeps_some_and_says_what_is_missing) {
    world all;
    all.lead(5, "first");
    auto const seen = all.newest();
    for (std::uint64_t holder = 6; holder < 6 + election_keys::kept; ++holder) {
        all.lead(holder, "x");
    }
    BOOST_TEST(all.ask({"LLEN", on.history}).number == election_keys::kept);
    auto const found = all.see(seen);
    BOOST_TEST(found->missed);
    BOOST_TEST(found->found.size() == 32U);
    BOOST_TEST(found->found.at(0).leader.term.value == 6'000U);
    // It goes on behind those without a gap.
    auto const rest = all.see(found->found.back().place);
    BOOST_TEST(!rest->missed);
    BOOST_TEST(rest->found.at(0).leader.term.value == 38'000U);
    BOOST_TEST(!all.see(leader_place{5001, {6'000}, 1})->missed);
    // An observer that knew none has missed the first one.
    BOOST_TEST(all.see(leader_place{})->missed);
}

BOOST_AUTO_TEST_CASE(long_values_come_in_parts) {
    world all;
    all.lead(5, "");
    auto const seen = all.newest();
    for (std::uint64_t holder = 6; holder < 16; ++holder) {
        all.lead(holder, std::string(60'000, 'x'));
    }
    auto const found = all.see(seen);
    BOOST_TEST(found->found.size() == 5U);
    BOOST_TEST(!found->missed);
    BOOST_TEST(all.see(found->found.back().place)->found.size() == 5U);
}

BOOST_AUTO_TEST_CASE(lost_data_are_a_gap) {
    world all;
    all.lead(5, "a");
    all.lead(6, "b");
    auto const seen = all.newest();
    all.ask({"DEL", on.history});
    auto const nothing = all.see(seen);
    BOOST_TEST(!nothing->leading);
    BOOST_TEST(nothing->found.empty());
    all.lead(7, "c");
    BOOST_TEST(all.since(seen) == "missed c@7000");
}

// A replica that had not the last one yet.
BOOST_AUTO_TEST_CASE(a_number_that_was_given_again_is_a_gap) {
    world all;
    all.lead(5, "a");
    all.lead(6, "lost");
    auto const seen = all.newest();
    all.ask({"LPOP", on.history});
    BOOST_TEST(all.since(seen) == "");
    BOOST_TEST(!(all.newest() == seen));
    all.lead(7, "b");
    BOOST_TEST(all.since(seen) == "missed b@7000");
    all.lead(8, "c");
    BOOST_TEST(all.since(seen) == "missed b@7000 c@8000");
    // Two are missing: the newest one has a smaller number.
    world more;
    more.lead(5, "a");
    more.lead(6, "lost");
    more.lead(7, "lost");
    auto const last = more.newest();
    more.ask({"LPOP", on.history});
    more.ask({"LPOP", on.history});
    more.lead(8, "b");
    BOOST_TEST(more.since(last) == "missed b@8000");
}

BOOST_AUTO_TEST_CASE(the_history_expires_unless_it_is_kept_for_ever) {
    world all;
    all.lead(5, "a");
    BOOST_TEST(all.ask({"PTTL", on.history}).number == 86'400'000);
    all.later(1h);
    all.give_lock_to(5);
    all.proclaim(5, "a");
    BOOST_TEST(all.ask({"PTTL", on.history}).number == 86'400'000);
    all.proclaim(5, "a", 1, 0ms);
    BOOST_TEST(all.ask({"PTTL", on.history}).number == -1);
    all.proclaim(5, "b", 2);
    BOOST_TEST(all.ask({"PTTL", on.history}).number == 86'400'000);
}

BOOST_AUTO_TEST_CASE(what_is_no_history_is_left_alone) {
    world all;
    all.give_lock_to(5);
    all.ask({"RPUSH", on.history, "apple"});
    BOOST_TEST((all.proclaim(5, "a") == kind::corrupt));
    BOOST_TEST(!all.see().has_value());
    BOOST_TEST(all.ask({"LLEN", on.history}).number == 1);
    all.ask({"SET", on.history, "apple"});
    all.proclaim(5, "a");
    BOOST_TEST(all.error.starts_with("WRONGTYPE"));
    all.see();
    BOOST_TEST(all.error.starts_with("WRONGTYPE"));
    BOOST_TEST(all.value_of(on.history) == "apple");
    BOOST_TEST(all.heard() == "");
}

BOOST_AUTO_TEST_CASE(a_server_without_memory_takes_no_new_leader_and_keeps_the_old_one) {
    world all;
    all.lead(5, "a");
    all.heard();
    all.server.set_refusal(holdfast::memory::refusal::oom);
    all.proclaim(5, "b", 2);
    BOOST_TEST(all.error.starts_with("OOM"));
    BOOST_TEST((all.proclaim(5, "a") == kind::proclaimed));
    BOOST_TEST(all.see()->found.at(0).leader.value == "a");
    BOOST_TEST(all.heard() == "");
}

BOOST_AUTO_TEST_SUITE_END()
