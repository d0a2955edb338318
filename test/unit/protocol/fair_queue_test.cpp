// What the scripts of a fair lock leave on a server: whom they notify, which keys expire, and what
// a step of the server's clock changes.

#include "protocol/fair_lock.hpp"
#include "unit/protocol/on_model.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>

using namespace std::chrono_literals;
using namespace holdfast::detail;
using holdfast::test::on_model;

namespace {

auto const on = make_fair_lock_target("", "L");
constexpr std::chrono::milliseconds patience{2'000};

holder_id id(std::uint64_t number) {
    return holder_id::of_number("0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", number);
}
std::string const java_thread = "71b9d3a0-0c52-4f4e-8f0a-2f3c8f1ea111:1";
std::string const other_thread = "71b9d3a0-0c52-4f4e-8f0a-2f3c8f1ea111:2";

std::string channel_of(std::string const& waiter) {
    return "redisson_lock__channel:{L}:" + waiter;
}

struct fair_world : on_model {
    fair_world() : on_model{channel_of(other_thread)} {}

    attempt_reply acquire(std::uint64_t who, bool waits = true, former_place const& had = {}) {
        return speaks.read_acquire(run(speaks.acquire({
            .on = on,
            .id = id(who),
            .lease = 30s,
            .counter_ttl = 1h,
            .timeout = 3s,
            .window = waits ? patience : 0ms,
            .had = had,
            .patience = patience,
        })));
    }
    bool granted(std::uint64_t who, former_place const& had = {}) {
        return acquire(who, true, had).what == attempt_reply::kind::granted;
    }
    release_reply release(std::uint64_t who) {
        return speaks.read_release(
            run(speaks.release({.on = on, .id = id(who), .timeout = 3s, .patience = patience}))
        );
    }
    void queue_from_java(std::string const& thread) {
        ask({"RPUSH", on.queue(), thread});
        auto const deadline = std::to_string(server.time() / 1'000 + 300'000);
        ask({"ZADD", on.waiters(), deadline, thread});
    }
    // Java waiters that are not waited for any more.
    void queue_the_gone(int count) {
        for (int i = 0; i < count; ++i) {
            auto const thread = "71b9d3a0-0c52-4f4e-8f0a-2f3c8f1ea222:" + std::to_string(i);
            ask({"RPUSH", on.queue(), thread});
            ask({"ZADD", on.waiters(), std::to_string(server.time() / 1'000 - 1), thread});
        }
    }
    std::int64_t life_of(std::string_view key) { return ask({"PTTL", key}).number; }

    primitive const& speaks = fair_lock_protocol();
};

// Those that wait, in the order in which they came.
struct with_three_waiters : fair_world {
    with_three_waiters() {
        BOOST_TEST_REQUIRE(granted(1));
        for (auto& place : places) {
            auto const reply = acquire(next++);
            BOOST_TEST_REQUIRE(reply.place.has_value());
            place = {reply.place->score, 0us, 0us};
            later(10ms);
        }
    }
    // Each asks once, the last one first, and so often that none is silent. Empty: nobody is
    // granted the lock.
    std::string ask_in_reverse() {
        std::string all;
        for (int i = 2; i >= 0; --i) {
            auto had = places[i];
            had.age = std::chrono::microseconds{500'000 - 10'000 * i};
            had.silent = 400ms;
            if (granted(static_cast<std::uint64_t>(2 + i), had)) {
                all += std::to_string(2 + i);
            }
        }
        return all;
    }
    std::uint64_t next = 2;
    former_place places[3];
};

}  // namespace

BOOST_AUTO_TEST_SUITE(fair_queue_test)

BOOST_FIXTURE_TEST_CASE(no_key_of_ours_stays_for_ever_behind_a_java_waiter_that_died, fair_world) {
    BOOST_TEST_REQUIRE(granted(1));
    queue_from_java(java_thread);
    release(1);
    auto const trust = "holdfast_fair:{L}";
    BOOST_TEST(ask({"ZCARD", trust}).number == 1);
    BOOST_TEST(life_of(trust) > 0);
    BOOST_TEST(life_of(trust) <= 62'000);
}

// It cannot be waited for: nobody would forget it if it died.
BOOST_FIXTURE_TEST_CASE(without_the_right_to_an_expiry_a_waiter_leaves_no_key, fair_world) {
    BOOST_TEST_REQUIRE(granted(1));
    holdfast::memory::user_rules rules;
    rules.denied_commands = {"pexpire"};
    server.set_user("default", rules);
    auto const reply = acquire(2);
    BOOST_TEST((reply.what == attempt_reply::kind::busy));
    BOOST_TEST(!reply.place.has_value());
    server.set_user("default", {});
    BOOST_TEST(ask({"EXISTS", "holdfast_fair:{L}"}).number == 0);
    BOOST_TEST(ask({"EXISTS", on.queue()}).number == 0);
    BOOST_TEST(ask({"EXISTS", on.waiters()}).number == 0);
}

BOOST_FIXTURE_TEST_CASE(a_waiter_is_told_only_when_it_is_the_first, fair_world) {
    BOOST_TEST_REQUIRE(granted(1));
    queue_from_java(java_thread);
    queue_from_java(other_thread);
    release(1);
    // The first one does not listen, and may be about to listen again.
    BOOST_TEST(heard() == "");
    later(patience + 1ms);
    BOOST_TEST(!granted(2));
    BOOST_TEST(heard() == "0");
    BOOST_TEST(ask({"LINDEX", on.queue(), "0"}).text == other_thread);
}

// Java's own waiters do not find out who is gone.
BOOST_FIXTURE_TEST_CASE(who_releases_looks_again_if_the_first_waiter_does_not_listen, fair_world) {
    BOOST_TEST_REQUIRE(granted(1));
    BOOST_TEST(!granted(2));
    queue_from_java(other_thread);
    auto const released = release(1);
    BOOST_TEST(released.handed_over);
    BOOST_TEST((released.window == patience));
    BOOST_TEST(!released.place.has_value());
    BOOST_TEST(heard() == "");
    later(patience + 1ms);
    auto const looked = release(1);
    BOOST_TEST(!looked.handed_over);
    BOOST_TEST(heard() == "0");
}

BOOST_FIXTURE_TEST_CASE(a_java_waiter_that_died_is_not_waited_for_through_a_step_back, fair_world) {
    BOOST_TEST_REQUIRE(granted(1));
    queue_from_java(java_thread);
    release(1);
    later(-40s);
    BOOST_TEST(!granted(2));
    later(patience + 1ms);
    BOOST_TEST(granted(2));
}

BOOST_FIXTURE_TEST_CASE(a_waiter_that_died_is_not_waited_for_through_a_step_back, fair_world) {
    BOOST_TEST_REQUIRE(granted(1));
    BOOST_TEST(!granted(2));
    later(-40s);
    release(1);
    BOOST_TEST(!granted(3));
    later(patience + 1ms);
    BOOST_TEST(granted(3));
}

BOOST_FIXTURE_TEST_CASE(after_a_step_of_an_hour_the_first_that_came_is_served, with_three_waiters) {
    later(1h);
    // The keys have expired.
    BOOST_TEST(ask_in_reverse() == "");
    later(500ms);
    BOOST_TEST(ask_in_reverse() == "2");
}

BOOST_FIXTURE_TEST_CASE(after_a_step_past_all_patience_the_first_is_served, with_three_waiters) {
    later(30s);
    release(1);
    BOOST_TEST(ask_in_reverse() == "");
    later(500ms);
    BOOST_TEST(ask_in_reverse() == "2");
}

BOOST_FIXTURE_TEST_CASE(nobody_comes_back_before_a_waiter_of_another_make, with_three_waiters) {
    ask({"DEL", on.queue(), on.waiters(), "holdfast_fair:{L}"});
    queue_from_java(java_thread);
    BOOST_TEST(ask_in_reverse() == "");
    std::string order;
    for (auto const& one : ask({"LRANGE", on.queue(), "0", "-1"}).elements) {
        order += one.text.substr(one.text.rfind(':'));
    }
    BOOST_TEST(order == ":1:2:3:4");
}

// It may be silent for its patience, and no longer: nobody is waited for who may have gone.
BOOST_FIXTURE_TEST_CASE(one_that_was_silent_for_long_has_the_lock_at_once, fair_world) {
    former_place const had{static_cast<std::uint64_t>(start - 20'000'000), 20s, 10s};
    BOOST_TEST(granted(2, had));
}

BOOST_FIXTURE_TEST_CASE(a_script_removes_at_most_64_waiters_that_are_gone, fair_world) {
    queue_the_gone(200);
    // Each attempt goes on where the one before has stopped.
    for (int left : {136, 72, 8}) {
        auto const reply = acquire(2);
        BOOST_TEST((reply.what == attempt_reply::kind::busy));
        BOOST_TEST((reply.remaining == 1ms));
        BOOST_TEST(reply.place.has_value());
        BOOST_TEST(ask({"LLEN", on.queue()}).number == left + 1);
    }
    BOOST_TEST(granted(2));
    BOOST_TEST(ask({"EXISTS", on.queue()}).number == 0);
}

BOOST_FIXTURE_TEST_CASE(
    behind_many_waiters_that_are_gone_the_first_that_came_is_granted,
    fair_world
) {
    queue_the_gone(100);
    BOOST_TEST(!granted(2));
    // The second one removes the rest, and has not the turn. One that does not wait has it neither.
    BOOST_TEST(!granted(3));
    BOOST_TEST((acquire(4, false).what == attempt_reply::kind::busy));
    BOOST_TEST(granted(2));
    BOOST_TEST(!granted(4));
    release(2);
    BOOST_TEST(granted(3));
}

BOOST_FIXTURE_TEST_CASE(
    one_that_does_not_wait_does_not_pass_those_behind_64_that_are_gone,
    fair_world
) {
    BOOST_TEST_REQUIRE(granted(1));
    queue_the_gone(64);
    queue_from_java(other_thread);
    ask({"DEL", on.lock});
    BOOST_TEST((acquire(4, false).what == attempt_reply::kind::busy));
    BOOST_TEST(heard() == "0");
    BOOST_TEST(ask({"LINDEX", on.queue(), "0"}).text == other_thread);
}

BOOST_FIXTURE_TEST_CASE(who_releases_goes_on_at_once_behind_64_that_are_gone, fair_world) {
    BOOST_TEST_REQUIRE(granted(1));
    queue_the_gone(150);
    queue_from_java(other_thread);
    for (int i = 0; i < 2; ++i) {
        auto const looked = release(1);
        BOOST_TEST(looked.handed_over);
        BOOST_TEST((looked.window == 1ms));
        BOOST_TEST(heard() == "");
    }
    BOOST_TEST(!release(1).handed_over);
    BOOST_TEST(heard() == "0");
}

BOOST_AUTO_TEST_SUITE_END()
