// What a client makes of a lock that another one gave it, and what it does not believe: a scenario
// for each rule, which breaks when the rule is taken out. `mutants.toml` takes them out.

#include "simulation/hand_over_stage.hpp"

#include <boost/test/unit_test.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace holdfast;
using namespace holdfast::sim;
using asked = hand_over_stage::asked;

// Its right ends when the server frees the lock, not when the message has taken its time.
BOOST_AUTO_TEST_CASE(the_receivers_deadline_counts_from_the_servers_grant) {
    with_a_queue all;
    std::optional<nanos> given_at;
    all.on().on_script = [&](script_event const& what) {
        if (what.script == "lock.release") {
            given_at = all.in().now();
        }
    };
    all.delay_to_client(*all.second, false, 40ms);
    all.give_back();
    BOOST_TEST_REQUIRE(all.granted(*all.seconds));
    BOOST_TEST_REQUIRE(given_at.has_value());
    auto const end = hand_over_stage::end_of(*all.second, *all.seconds);
    BOOST_TEST((end <= *given_at + 3s - 50ms));
    BOOST_TEST((end > *given_at + 2'500ms));
}

BOOST_AUTO_TEST_CASE(a_receiver_asks_first_if_the_clocks_disagree) {
    with_a_queue all;
    all.on().step_clock(2s);
    all.give_back();
    BOOST_TEST_REQUIRE(all.granted(*all.seconds));
    BOOST_TEST((hand_over_stage::end_of(*all.second, *all.seconds) <= all.end_on_server() + 1ms));
    BOOST_TEST(hand_over_stage::valid(*all.second, *all.seconds));
}

BOOST_AUTO_TEST_CASE(a_receiver_asks_first_if_it_has_not_heard_of_the_servers_clock_for_long) {
    with_a_queue all;
    all.run_for(6s);
    auto const before = all.second->client().stats().attempts;
    all.give_back();
    BOOST_TEST_REQUIRE(all.granted(*all.seconds));
    BOOST_TEST(all.second->client().stats().attempts == before + 1);
}

BOOST_AUTO_TEST_CASE(a_grant_that_overtakes_the_reply_to_its_registration_waits_for_it) {
    hand_over_stage all;
    auto& holder = all.add_holder();
    auto& early = all.add_ready();
    auto const wanted = early.acquire();
    all.run_until([&] { return early.client().stats().refusals == 1; }, 1s);
    all.delay_to_client(early, true, 100ms);
    BOOST_TEST_REQUIRE(all.run_until([&] { return all.waiting_clients() == 1; }, 1s));
    holder.drop(*all.held);
    all.run_for(50ms);
    BOOST_TEST(all.waiting_clients() == 0);
    BOOST_TEST(!wanted->done);
    BOOST_TEST(all.granted(*wanted, 100ms));
}

// Its client claims it: the holder may have other things to do.
BOOST_AUTO_TEST_CASE(the_lock_is_claimed_although_its_new_holder_is_busy) {
    with_a_queue all;
    all.second->of().block(all.second->on());
    all.give_back();
    all.run_for(100ms);
    BOOST_TEST(!all.seconds->done);
    BOOST_TEST(all.on().data().pttl("lock") > 50'000);
    all.second->of().unblock(all.second->on());
    BOOST_TEST(all.granted(*all.seconds));
}

// --- what is believed

BOOST_AUTO_TEST_CASE(a_grant_that_is_repeated_is_used_once) {
    with_a_queue all;
    auto const another = all.second->acquire();
    auto const holder = all.first_in_queue();
    all.give_back();
    BOOST_TEST_REQUIRE(all.granted(*all.seconds));
    auto const time = all.on().wall_clock();
    all.publish_to(
        holder,
        "grant lock " + holder + " " + std::to_string(hand_over_stage::token_of(*all.seconds)) +
            " " + std::to_string(time) + " 3000 lock"
    );
    all.run_for(1s);
    BOOST_TEST(!another->done);
    BOOST_TEST(hand_over_stage::valid(*all.second, *all.seconds));
    BOOST_TEST(all.on().data().hgetall("lock").size() == 1U);
    BOOST_TEST(!all.thirds->done);
}

// A queue that has come back with old data may name a holder that lost the lock since.
// A promoted replica may have lost that the id has the lock, and not that it waited for it.
BOOST_AUTO_TEST_CASE(a_hold_is_lost_when_its_id_is_granted_the_lock_once_more) {
    with_a_queue all;
    auto const holder = all.first_in_queue();
    all.give_back();
    BOOST_TEST_REQUIRE(all.granted(*all.seconds));
    all.second->of().block(all.second->on());
    auto const time = all.on().wall_clock();
    all.publish_to(
        holder,
        "grant lock " + holder + " " + std::to_string(time) + " " + std::to_string(time) +
            " 3000 lock"
    );
    all.run_for(1s);
    all.second->of().unblock(all.second->on());
    BOOST_TEST(!hand_over_stage::valid(*all.second, *all.seconds));
    BOOST_TEST(all.granted(*all.thirds));
}

BOOST_AUTO_TEST_CASE(a_grant_for_a_hold_that_was_lost_is_passed_on) {
    hand_over_stage all{3s};
    auto& one = all.add_holder();
    auto const lost = all.on().data().hgetall("lock").front().first;
    all.on().data().erase("lock");
    all.run_for(3s);
    BOOST_TEST(!hand_over_stage::valid(one, *all.held));
    auto& other = all.add_ready();
    auto const others = other.acquire();
    BOOST_TEST_REQUIRE(all.granted(*others));
    asked again;
    all.wait_in_queue(one, again);
    all.on().as_operator({"DEL", "lock"});
    all.on().as_operator({"HSET", "lock", lost, "1"});
    all.on().as_operator({"PEXPIRE", "lock", "600000"});
    all.publish_to(
        lost,
        "grant lock " + lost + " 2000000000000000 " + std::to_string(all.on().wall_clock()) +
            " 600000 lock"
    );
    BOOST_TEST(all.granted(*again, 5s));
}

BOOST_AUTO_TEST_CASE(a_grant_is_confirmed_first_if_that_is_asked_for) {
    hand_over_stage all;
    all.settings().confirm_grants = true;
    all.add_holder();
    asked wanted;
    all.add_waiter(wanted);
    auto const holder = all.first_in_queue();
    all.publish_to(
        holder,
        "grant lock " + holder + " 2000000000000000 " + std::to_string(all.on().wall_clock()) +
            " 3000 lock"
    );
    all.run_for(1s);
    BOOST_TEST(!wanted->done);
}

// The withdrawal of a waiter that has gone comes once more when the next one has the lock.
BOOST_AUTO_TEST_CASE(an_id_is_not_used_again_after_its_withdrawal_was_sent) {
    with_a_queue all;
    all.on().run_twice("lock.release", 300ms);
    all.second->run([&] { all.seconds->cancel(asio::cancellation_type::terminal); });
    all.kill(*all.third);
    auto const again = all.second->acquire();
    all.run_for(50ms);
    all.give_back();
    BOOST_TEST_REQUIRE(all.granted(*again, 100ms));
    all.run_for(500ms);
    BOOST_TEST(all.on().data().hgetall("lock").size() == 1U);
    BOOST_TEST(hand_over_stage::valid(*all.second, *again));
}

// A release that is repeated finds the successor.
BOOST_AUTO_TEST_CASE(a_release_that_is_repeated_frees_nobody_else) {
    with_a_queue all;
    all.on().run_twice("lock.release", 300ms);
    all.give_back();
    BOOST_TEST_REQUIRE(all.granted(*all.seconds));
    all.run_for(500ms);
    BOOST_TEST(all.on().data().hgetall("lock").size() == 1U);
    BOOST_TEST(hand_over_stage::valid(*all.second, *all.seconds));
    BOOST_TEST(!all.thirds->done);
}

// The counter is that of a replica that had been behind.
BOOST_AUTO_TEST_CASE(the_token_of_a_hand_over_is_greater_than_one_that_the_counter_has_forgotten) {
    with_a_queue all;
    auto const before = hand_over_stage::token_of(*all.held);
    all.on().as_operator(
        {"SET", "redisson_lock_token:{lock}", std::to_string(before - 1'000), "PX", "100000"}
    );
    all.give_back();
    BOOST_TEST_REQUIRE(all.granted(*all.seconds));
    BOOST_TEST(hand_over_stage::token_of(*all.seconds) > before);
}

// --- others

// Two clients that queue would hand it to each other for ever.
BOOST_AUTO_TEST_CASE(a_client_that_does_not_queue_has_its_turn) {
    hand_over_stage all;
    auto* holder = &all.add_holder();
    asked seconds;
    auto* second = &all.add_waiter(seconds);
    all.settings().hand_over = false;
    auto& other = all.add_ready();
    auto const wanted = other.acquire();
    all.run_for(100ms);
    auto held = all.held;
    for (int i = 0; i < 20 && !wanted->done; ++i) {
        holder->drop(*held);
        all.run_for(1ms);
        auto const again = holder->acquire();
        all.run_until([&] { return seconds->done || wanted->done; }, 1s);
        all.run_for(50ms);
        held = std::exchange(seconds, again);
        std::swap(holder, second);
    }
    BOOST_TEST(all.granted(*wanted, 1ms));
}

BOOST_AUTO_TEST_CASE(a_user_without_the_rights_for_a_queue_waits_for_the_notification) {
    hand_over_stage all;
    user_rules rules;
    rules.keys = std::vector<std::string>{"lock", "redisson_lock*"};
    all.on().data().set_user("default", rules);
    auto& holder = all.add_holder();
    auto& other = all.add_ready();
    auto const wanted = other.acquire();
    all.run_for(200ms);
    BOOST_TEST(!wanted->done);
    holder.drop(*all.held);
    BOOST_TEST(all.granted(*wanted, 100ms));
    BOOST_TEST(other.client().stats().hand_overs_by.notification == 1U);
    other.drop(*wanted);
    BOOST_TEST(all.close_all() == "");
}

// Its subscriptions were refused, but not because it may not subscribe.
BOOST_AUTO_TEST_CASE(a_user_who_had_to_log_in_for_a_while_keeps_the_rights_for_a_queue) {
    hand_over_stage all;
    auto& holder = all.add_holder();
    auto& other = all.add_ready();
    auto const refused = other.acquire();
    all.run_until([&] { return other.client().stats().refusals == 1; }, 1s);
    all.on().data().set_refusal(refusal::noauth);
    BOOST_TEST_REQUIRE(all.run_until([&] { return refused->done; }, 1s));
    BOOST_TEST(refused->error.message() == make_error_code(errc::auth_failed).message());
    all.on().data().set_refusal(refusal::none);
    all.run_for(5s);
    asked wanted;
    all.wait_in_queue(other, wanted);
    holder.drop(*all.held);
    BOOST_TEST(all.granted(*wanted, 100ms));
    BOOST_TEST(other.client().stats().hand_overs_by.other_client == 1U);
}
