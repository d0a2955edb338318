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
    world() : on_model{on.leader} {}

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
    std::optional<leader_look> see() { return read_look(run(look(on, 3s))); }
    std::string value() { return see()->leader.value; }

    bool notified = false;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(election_test)

BOOST_AUTO_TEST_CASE(its_keys_are_those_of_its_lock_and_in_the_slot_of_it) {
    BOOST_TEST(on.lock->lock == "E");
    BOOST_TEST(on.lock->channel() == "redisson_lock__channel:{E}");
    BOOST_TEST(on.leader == "holdfast_leader:{E}");
    config cluster;
    cluster.key_prefix = "p:";
    cluster.cluster_nodes = {{"a", 1}};
    auto const tagged = make_election_keys(cluster, "a{b}c");
    BOOST_TEST(tagged.leader == "holdfast_leader:p:a{b}c");
    BOOST_TEST(slot_of(tagged.leader) == slot_of(tagged.lock->lock));
    BOOST_TEST(!make_election_keys(cluster, "a{}b").lock->valid());
    BOOST_TEST(!make_election_keys({}, "").lock->valid());
}

BOOST_AUTO_TEST_CASE(the_calls_name_what_they_touch) {
    auto const who = id(5);
    BOOST_TEST(
        typed(holdfast::detail::proclaim({on, who, {7}, 2, "a value", 1min, 3s})) ==
        "election.proclaim 2 E holdfast_leader:{E} " + std::string{who.view()} +
            " 7 2 60000 a value"
    );
    BOOST_TEST(typed(look(on, 3s)) == "election.look 2 E holdfast_leader:{E}");
}

BOOST_AUTO_TEST_CASE(a_reply_that_is_none_is_not_read) {
    BOOST_TEST(!read_look(reply_of(-3)).has_value());
    BOOST_TEST(!read_look(reply_of()).has_value());
    BOOST_TEST((read_proclaim(reply_of()).what == kind::corrupt));
}

BOOST_AUTO_TEST_CASE(who_has_the_lock_is_announced_and_seen) {
    world all;
    BOOST_TEST(!all.see()->held);
    BOOST_TEST(!all.see()->leader);
    all.lead(5, "me");
    BOOST_TEST(all.heard() == "5000");
    auto const found = all.see();
    BOOST_TEST(found->held);
    BOOST_TEST((found->remaining == 30s));
    BOOST_TEST((found->place == leader_place{{5000}, 1}));
    BOOST_TEST(found->leader.value == "me");
    BOOST_TEST(found->leader.holder == id(5).view());
    BOOST_TEST(found->leader.term.value == 5000U);
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
    BOOST_TEST(all.value() == "other");
    all.give_lock_to(7);
    // Nobody leads before its value is there.
    BOOST_TEST(all.see()->held);
    BOOST_TEST(!all.see()->leader);
    BOOST_TEST((all.proclaim(7, "me") == kind::proclaimed));
    BOOST_TEST(all.value() == "me");
    all.ask({"DEL", "E"});
    BOOST_TEST(!all.see()->leader);
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
    BOOST_TEST(all.value() == "next");
}

BOOST_AUTO_TEST_CASE(a_request_that_comes_again_adds_nothing) {
    world all;
    all.lead(5, "one");
    all.heard();
    BOOST_TEST((all.proclaim(5, "one") == kind::proclaimed));
    BOOST_TEST((all.proclaim(5, "two", 2) == kind::proclaimed));
    // The first one once more, overtaken.
    BOOST_TEST((all.proclaim(5, "one") == kind::proclaimed));
    BOOST_TEST(all.heard() == "5000");
    BOOST_TEST((all.see()->place == leader_place{{5000}, 2}));
    BOOST_TEST(all.value() == "two");
}

BOOST_AUTO_TEST_CASE(values_are_of_any_bytes) {
    world all;
    std::string const odd{"\0 \n\xff 1 2 3 h \r\n", 16};
    std::string const longest(election_keys::longest_value, ' ');
    all.lead(5, odd);
    BOOST_TEST(all.value() == odd);
    all.lead(6, "");
    BOOST_TEST(bool(all.see()->leader));
    BOOST_TEST(all.value() == "");
    all.lead(7, longest);
    BOOST_TEST(all.value() == longest);
}

BOOST_AUTO_TEST_CASE(a_value_expires_unless_it_is_kept_for_ever) {
    world all;
    all.lead(5, "a");
    BOOST_TEST(all.ask({"PTTL", on.leader}).number == 86'400'000);
    all.later(1h);
    all.give_lock_to(5);
    all.proclaim(5, "a");
    BOOST_TEST(all.ask({"PTTL", on.leader}).number == 86'400'000);
    all.proclaim(5, "a", 1, 0ms);
    BOOST_TEST(all.ask({"PTTL", on.leader}).number == -1);
    all.proclaim(5, "b", 2);
    BOOST_TEST(all.ask({"PTTL", on.leader}).number == 86'400'000);
}

BOOST_AUTO_TEST_CASE(something_else_under_its_key_is_left_alone) {
    world all;
    all.give_lock_to(5);
    all.ask({"SET", on.leader, "apple"});
    BOOST_TEST((all.proclaim(5, "a") == kind::corrupt));
    BOOST_TEST(!all.see().has_value());
    BOOST_TEST(all.value_of(on.leader) == "apple");
    all.ask({"DEL", on.leader});
    all.ask({"RPUSH", on.leader, "apple"});
    all.proclaim(5, "a");
    BOOST_TEST(all.error.starts_with("WRONGTYPE"));
    all.see();
    BOOST_TEST(all.error.starts_with("WRONGTYPE"));
    BOOST_TEST(all.ask({"LLEN", on.leader}).number == 1);
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
    BOOST_TEST(all.value() == "a");
    BOOST_TEST(all.heard() == "");
}

BOOST_AUTO_TEST_SUITE_END()
