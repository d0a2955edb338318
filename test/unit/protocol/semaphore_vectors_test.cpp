// What the scripts of a semaphore leave on a server and say on its channels: the vectors that were
// recorded of Redisson, repeated requests, places in the queue, a server without memory.

#include "unit/protocol/semaphore_world.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace holdfast::test::semaphore_scripts;
using holdfast::loss_reason;
using holdfast::memory::refusal;

BOOST_AUTO_TEST_SUITE(semaphore_vectors_test)

BOOST_AUTO_TEST_CASE(permits_are_taken_and_reclaimed_as_redisson_does) {
    semaphore_world all;
    BOOST_TEST((all.set(2) == set_permits_reply::set_now));
    BOOST_TEST(all.said(channel) == "2");
    BOOST_TEST(all.free() == "2");
    BOOST_TEST(all.granted(1));
    BOOST_TEST(all.till(1) == all.now(30s));
    all.ask({"INCRBY", "L", "-1"});
    all.ask({"ZADD", deadlines, "922337203685477", "0123456789abcdef"});
    BOOST_TEST(all.free() == "0");

    auto const refused = all.acquire(3);
    BOOST_TEST((refused.what == attempt_reply::kind::busy));
    BOOST_TEST((refused.remaining == 500ms));
    all.pass(29'900ms);
    BOOST_TEST((all.acquire(3).remaining == 101ms));
    all.pass(100ms);
    BOOST_TEST(all.granted(3));
    BOOST_TEST(all.said(channel) == "1");
    BOOST_TEST(all.till(1).empty());
    BOOST_TEST(all.free() == "0");
    BOOST_TEST(all.release(3));
    BOOST_TEST(all.said(channel) == "1");
    BOOST_TEST(!all.release(3));
    BOOST_TEST(all.said(channel) == "");
    BOOST_TEST(all.free() == "1");
}

BOOST_AUTO_TEST_CASE(the_limit_is_what_is_free_and_what_is_taken) {
    semaphore_world all;
    BOOST_TEST((all.set(5) == set_permits_reply::set_now));
    BOOST_TEST(all.granted(1, 2));
    BOOST_TEST(all.free() == "3");
    BOOST_TEST((all.set(5) == set_permits_reply::was_set));
    BOOST_TEST((all.set(3) == set_permits_reply::other_limit));
    BOOST_TEST((all.acquire(2, 6).what == attempt_reply::kind::too_much));
    BOOST_TEST((all.acquire(2, 5).what == attempt_reply::kind::busy));
    // As setPermits(1) of Redisson.
    all.ask({"INCRBY", "L", "-4"});
    BOOST_TEST((all.acquire(2, 2).what == attempt_reply::kind::too_much));
    BOOST_TEST((all.acquire(2, 1).what == attempt_reply::kind::busy));
    BOOST_TEST(all.release(1, 2));
    BOOST_TEST(all.free() == "1");
    // The number was lost: permits that are out count.
    BOOST_TEST(all.granted(1));
    all.server.erase("L");
    BOOST_TEST((all.acquire(2, 9).what == attempt_reply::kind::no_limit));
    BOOST_TEST((all.set(4) == set_permits_reply::set_now));
    BOOST_TEST(all.free() == "3");
    all.server.erase("L");
    auto const again = all.acquire(1, 1, false, 30s, true);
    BOOST_TEST((again.what == attempt_reply::kind::granted));
    BOOST_TEST(all.free() == "none");
    BOOST_TEST(all.release(1));
    // What is acquired tells it again.
    BOOST_TEST(all.free() == "4");
    all.ask({"SET", "L", "many"});
    BOOST_TEST((all.acquire(2).what == attempt_reply::kind::corrupt));
    BOOST_TEST((all.set(4) == set_permits_reply::corrupt));
}

BOOST_AUTO_TEST_CASE(requests_that_come_again_change_nothing) {
    semaphore_world all;
    all.set(5);
    auto const first = all.acquire(1, 3);
    all.pass(10s);
    auto const again = all.acquire(1, 3);
    BOOST_TEST((again.what == attempt_reply::kind::granted));
    BOOST_TEST((again.token > first.token));
    BOOST_TEST(all.free() == "2");
    BOOST_TEST(all.taken() == 3);
    BOOST_TEST(all.till(1, 2) == all.now(30s));
    BOOST_TEST(all.renew(1, 3));
    BOOST_TEST(all.renew(1, 3));
    BOOST_TEST(all.release(1, 3));
    BOOST_TEST(all.said(channel) == "5");
    BOOST_TEST(!all.release(1, 3));
    BOOST_TEST(!all.renew(1, 3));
    BOOST_TEST(all.free() == "5");
    BOOST_TEST(!all.server.exists(deadlines));
}

BOOST_AUTO_TEST_CASE(a_renewal_raises_and_gives_back_what_is_left_of_a_hold) {
    semaphore_world all;
    all.set(3);
    BOOST_TEST(all.granted(1, 3));
    BOOST_TEST(all.renew(1, 3, 1s));
    BOOST_TEST(all.till(1) == all.now(30s));
    all.pass(20s);
    BOOST_TEST(all.renew(1, 3, 40s));
    BOOST_TEST(all.till(1, 1) == all.now(40s));
    all.ask({"ZREM", deadlines, permit_id{holder(1), 1}.view()});
    all.ask({"INCRBY", "L", "1"});
    BOOST_TEST(!all.renew(1, 3));
    BOOST_TEST(all.said(channel) == "3");
    BOOST_TEST(all.free() == "3");
    BOOST_TEST(all.taken() == 0);
    // A permit that is over is not renewed, and comes back.
    BOOST_TEST(all.granted(2));
    all.pass(30s);
    BOOST_TEST(!all.renew(2));
    BOOST_TEST(all.free() == "3");
    BOOST_TEST(all.granted(3));
    all.pass(30s);
    BOOST_TEST(!all.release(3));
    BOOST_TEST(all.free() == "3");
}

BOOST_AUTO_TEST_CASE(one_attempt_that_finds_a_part_of_its_permits_takes_all_anew) {
    semaphore_world all;
    all.set(3);
    BOOST_TEST(all.granted(1, 3));
    all.ask({"ZREM", deadlines, permit_id{holder(1), 1}.view()});
    all.ask({"INCRBY", "L", "1"});
    BOOST_TEST(all.granted(1, 3));
    BOOST_TEST(all.free() == "0");
    BOOST_TEST(all.taken() == 3);
}

BOOST_AUTO_TEST_CASE(several_holds_are_renewed_together) {
    semaphore_world all;
    all.set(4);
    BOOST_TEST(all.granted(1));
    BOOST_TEST(all.granted(2, 2));
    auto const one = with_permits(all.target_, 1);
    auto const two = with_permits(all.target_, 2);
    all.pass(5s);
    primitive::member const members[] = {
        {&one, holder(1), 30s},
        {&one, holder(7), 30s},
        {&two, holder(2), 1s},
    };
    auto const said = all.run(all.speaks.renew_many(members, 3s));
    BOOST_TEST(said.text(0) == "191");
    BOOST_TEST(all.till(1) == all.now(30s));
    BOOST_TEST(all.till(2) == all.now(25s));
}

BOOST_AUTO_TEST_CASE(those_who_wait_are_granted_in_order_and_told_when_it_is_their_turn) {
    semaphore_world all;
    all.set(4);
    BOOST_TEST(all.granted(1, 3));
    auto const placed = all.acquire(2, 3, true);
    BOOST_REQUIRE(placed.place.has_value());
    BOOST_TEST(!all.granted(3, 1, true));
    BOOST_TEST(all.waiting() == 2);
    // One is free, and the first one wants more.
    BOOST_TEST(!all.granted(4));
    BOOST_TEST(!all.granted(3, 1, true));
    BOOST_TEST(all.waiting() == 2);

    BOOST_TEST(all.release(1, 3));
    BOOST_TEST(all.said(turns) == all.turn_of(2) + " 1");
    BOOST_TEST(all.said(channel) == "4");
    BOOST_TEST(!all.granted(3, 1, true));
    BOOST_TEST(all.granted(2, 3, true));
    BOOST_TEST(all.said(turns) == all.turn_of(3) + " 0");
    BOOST_TEST(all.said(channel) == "");
    BOOST_TEST(all.granted(3, 1, true));
    BOOST_TEST(all.said(turns) == "");
    BOOST_TEST(all.waiting() == 0);

    BOOST_TEST(!all.granted(5, 2, true));
    BOOST_TEST(all.release(3));
    BOOST_TEST(all.said(turns) == "- 1");
    BOOST_TEST(all.said(channel) == "1");
    // One who leaves lets the next one go.
    BOOST_TEST(!all.granted(6, 1, true));
    BOOST_TEST(!all.release(5, 2, true));
    BOOST_TEST(all.said(turns) == all.turn_of(6) + " 0");
    BOOST_TEST(all.granted(6, 1, true));
}

BOOST_AUTO_TEST_CASE(one_that_is_silent_loses_its_place) {
    semaphore_world all;
    all.set(1);
    BOOST_TEST(all.granted(1));
    BOOST_TEST(!all.granted(2, 1, true));
    all.pass(1s);
    BOOST_TEST(!all.granted(3, 1, true));
    BOOST_TEST(all.release(1));
    auto const behind = all.acquire(3, 1, true);
    BOOST_TEST((behind.what == attempt_reply::kind::busy));
    BOOST_TEST((behind.remaining == 500ms));
    all.pass(990ms);
    BOOST_TEST((all.acquire(3, 1, true).remaining == 11ms));
    all.pass(10ms);
    BOOST_TEST(all.granted(3, 1, true));
    BOOST_TEST(all.waiting() == 0);
    // An entry of which nothing was ever heard is nobody's.
    all.ask({"ZADD", queue, "1", "1 somebody:1"});
    BOOST_TEST(all.release(3));
    BOOST_TEST(all.granted(4));
    BOOST_TEST(all.waiting() == 0);
}

BOOST_AUTO_TEST_CASE(what_belongs_to_the_queue_ends_by_itself) {
    semaphore_world all;
    all.set(1);
    BOOST_TEST(all.granted(1));
    BOOST_TEST(!all.granted(2, 1, true));
    BOOST_TEST(all.server.pttl(queue) == 62'000);
    BOOST_TEST(all.server.pttl("holdfast_semaphore_heard:{L}") == 62'000);
    BOOST_TEST(all.server.pttl("L") == -1);
    BOOST_TEST(all.server.pttl(deadlines) == -1);
    // As trySetPermits with a time to live.
    all.ask({"PEXPIRE", "L", "50000"});
    BOOST_TEST(all.release(1));
    BOOST_TEST(all.granted(2, 1, true));
    BOOST_TEST(all.server.pttl(deadlines) == 50'000);
}

BOOST_AUTO_TEST_CASE(without_memory_permits_come_back_and_are_renewed) {
    semaphore_world all;
    all.set(3);
    BOOST_TEST(all.granted(1, 3));
    BOOST_TEST(!all.granted(2, 1, true));
    all.pass(1s);
    all.server.set_refusal(refusal::oom);
    BOOST_TEST(all.renew(1, 3));
    BOOST_TEST(all.till(1, 2) == all.now(30s));
    auto const kept = all.acquire(2, 1, true);
    BOOST_TEST(kept.place.has_value());
    auto const busy = all.acquire(3, 1, true);
    BOOST_TEST((busy.what == attempt_reply::kind::busy));
    BOOST_TEST(!busy.place.has_value());
    BOOST_TEST(all.release(1, 3));
    BOOST_TEST(all.free() == "3");
    BOOST_TEST(all.granted(2, 1, true));
    BOOST_TEST(all.release(2));
    BOOST_TEST(!all.release(7, 1, true));
    BOOST_TEST(all.free() == "3");
}

BOOST_AUTO_TEST_CASE(a_forced_release_takes_all_permits) {
    semaphore_world all;
    using kind = force_release_reply::kind;
    auto const force = [&] {
        return all.speaks.read_force_release(
            all.run(all.speaks.force_release(all.target_, 3s, waiter_patience))
        );
    };
    all.set(3);
    BOOST_TEST((force().what == kind::was_free));
    BOOST_TEST(all.granted(1, 2));
    BOOST_TEST(!all.granted(2, 3, true));
    BOOST_TEST((force().what == kind::freed));
    BOOST_TEST(all.said(turns) == all.turn_of(2) + " 1");
    BOOST_TEST(all.said(channel) == "3");
    BOOST_TEST(all.free() == "3");
    BOOST_TEST(!all.renew(1, 2));
    all.ask({"ZADD", deadlines, "1", "something else"});
    BOOST_TEST((force().what == kind::corrupt));
    BOOST_TEST(all.taken() == 1);
}

BOOST_AUTO_TEST_CASE(what_is_there_is_said) {
    semaphore_world all;
    using kind = semaphore_reading::kind;
    auto const look = [&] {
        return read_semaphore(all.run(all.speaks.inspect(all.target_, 3s, true)));
    };
    BOOST_TEST((look().what == kind::unset));
    all.set(3);
    BOOST_TEST(all.granted(1, 2));
    BOOST_TEST(!all.granted(2, 2, true));
    auto const found = look();
    BOOST_TEST((found.what == kind::set));
    BOOST_TEST(found.available == 1);
    BOOST_TEST(found.acquired == 2);
    BOOST_TEST(found.waiting == 1U);
    all.pass(30s);
    auto const later = look();
    BOOST_TEST(later.available == 3);
    BOOST_TEST(later.acquired == 0);
    BOOST_TEST(later.waiting == 0U);
    BOOST_TEST(all.free() == "1");
    all.ask({"SET", "L", "x"});
    BOOST_TEST((look().what == kind::corrupt));
}

BOOST_AUTO_TEST_CASE(a_refused_message_is_reported) {
    semaphore_world all;
    auto const refuse = [&] { all.server.refuse_next("PUBLISH", 1, "NOPERM no channel"); };
    auto const is_told = [&](std::uint64_t who, std::int64_t count) {
        auto const on = with_permits(all.target_, count);
        auto const sent = all.speaks.release({
            .on = on,
            .id = holder(who),
            .timeout = 3s,
            .window = waiter_patience,
        });
        return all.speaks.read_release(all.run(sent)).notified;
    };
    BOOST_TEST((all.set(1) == set_permits_reply::set_now));
    BOOST_TEST(all.granted(1));
    BOOST_TEST(!all.granted(2, 1, true));
    // Whose turn it is.
    refuse();
    BOOST_TEST(!is_told(1, 1));
    BOOST_TEST(!all.granted(3, 1, true));
    refuse();
    BOOST_TEST(!is_told(2, 1));
    BOOST_TEST(is_told(2, 1));
    BOOST_TEST(all.granted(3, 1, true));
    all.pass(31s);
    refuse();
    auto const got = all.acquire(4);
    BOOST_TEST((got.what == attempt_reply::kind::granted));
    BOOST_TEST(!got.notified);
    BOOST_TEST(all.acquire(4).notified);
    all.ask({"FLUSHALL"});
    refuse();
    BOOST_TEST((all.set(1) == set_permits_reply::set_silently));
}

BOOST_AUTO_TEST_CASE(a_renewal_reports_a_refused_message_about_the_rest_of_its_hold) {
    semaphore_world all;
    auto const of = with_permits(all.target_, 2);
    auto const renewed = [&](std::uint64_t who) {
        auto const sent = all.speaks.renew({
            .on = of,
            .id = holder(who),
            .lease = 30s,
            .timeout = 3s,
        });
        return all.speaks.read_renew(all.run(sent));
    };
    auto const refuse = [&] { all.server.refuse_next("PUBLISH", 1, "NOPERM no channel"); };
    all.set(4);
    for (std::uint64_t const who : {1U, 2U}) {
        BOOST_TEST(all.granted(who, 2));
        BOOST_TEST(renewed(who).notified);
        all.ask({"ZREM", deadlines, permit_id{holder(who), 1}.view()});
        all.ask({"INCRBY", "L", "1"});
    }
    refuse();
    auto const lost = renewed(1);
    BOOST_TEST((lost.lost == holdfast::loss_reason::deleted));
    BOOST_TEST(!lost.notified);
    BOOST_TEST(all.free() == "3");
    BOOST_TEST(renewed(2).notified);
    // Nothing is left to be given back.
    BOOST_TEST(renewed(1).notified);
}

// A script that removes many of them at once would keep the server from all others.
BOOST_AUTO_TEST_CASE(nobody_passes_those_who_wait_behind_many_places_of_whom_nothing_is_known) {
    semaphore_world all;
    all.set(1);
    BOOST_TEST_REQUIRE(all.granted(1));
    BOOST_TEST(!all.granted(2, 1, true));
    for (int i = 1; i <= 250; ++i) {
        all.ask({"ZADD", queue, std::to_string(i), "1 gone:" + std::to_string(i)});
    }
    BOOST_TEST(all.release(1));
    BOOST_TEST(all.waiting() == 187);
    BOOST_TEST(!all.granted(3));
    BOOST_TEST(all.waiting() == 123);
    auto const reply = all.acquire(2, 1, true);
    BOOST_TEST((reply.what == attempt_reply::kind::busy));
    BOOST_TEST((reply.remaining == 1ms));
    BOOST_TEST(all.waiting() == 59);
    BOOST_TEST(all.granted(2, 1, true));
}

BOOST_AUTO_TEST_SUITE_END()
