// How the library speaks of a fair lock: the names of Redisson, and which script gets which keys
// and arguments.

#include "protocol/fair_lock.hpp"

#include "unit/calls.hpp"
#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace std::chrono_literals;
using holdfast::fencing_token;
using holdfast::detail::attempt_reply;
using holdfast::detail::fair_lock_protocol;
using holdfast::detail::holder_id;
using holdfast::detail::make_fair_lock_target;
using holdfast::detail::orphan;
using holdfast::detail::primitive;
using holdfast::detail::target_kind;
using holdfast::test::reply_of;
using holdfast::test::typed;

namespace {

auto const on = make_fair_lock_target("", "foo");
holder_id const id{"0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", 84};
std::string const holder{id.view()};

std::string const queue_keys =
    "redisson_lock_queue:{foo} redisson_lock_timeout:{foo} holdfast_fair:{foo}";
std::string const attempt_keys =
    "foo redisson_lock_token:{foo} " + queue_keys + " redisson_lock__channel:{foo}";
std::string const release_keys = "foo redisson_lock__channel:{foo} " + queue_keys;

primitive::attempt attempt(std::chrono::milliseconds window) {
    return {
        .on = on,
        .id = id,
        .lease = 30s,
        .counter_ttl = 1h,
        .timeout = 3s,
        .window = window,
        .patience = 2s,
    };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fair_lock_test)

BOOST_AUTO_TEST_CASE(names_are_those_of_redisson) {
    BOOST_TEST((on.kind == target_kind::fair_lock));
    BOOST_TEST(on.lock == "foo");
    auto const tagged = make_fair_lock_target("p:", "a{b}c");
    BOOST_TEST(tagged.lock == "p:a{b}c");
    BOOST_TEST(tagged.queue() == "redisson_lock_queue:p:a{b}c");
    BOOST_TEST(
        fair_lock_protocol().channel_of_waiter(on, id) == "redisson_lock__channel:{foo}:" + holder
    );
    BOOST_TEST(!make_fair_lock_target("", "").valid());
}

BOOST_AUTO_TEST_CASE(each_waiter_has_a_place_and_none_is_handed_the_lock) {
    BOOST_TEST(fair_lock_protocol().queues_each());
    BOOST_TEST(!fair_lock_protocol().hands_over());
}

BOOST_AUTO_TEST_CASE(the_calls_name_what_they_touch) {
    auto const& speaks = fair_lock_protocol();
    BOOST_TEST(
        typed(speaks.acquire(attempt(0ms))) ==
        "fair_lock.acquire 6 " + attempt_keys + " 30000 " + holder + " 3600000 0 2000 0 0 0"
    );
    auto waits = attempt(2s);
    waits.preflight = true;
    waits.learned = primitive::learning{1s, 20};
    BOOST_TEST(
        typed(speaks.acquire(waits)) == "fair_lock.acquire 7 " + attempt_keys +
                                            " holdfast_hold:{foo} 30000 " + holder +
                                            " 3600000 1 2000 1 1000 20"
    );
    // It is not taken over.
    BOOST_TEST(
        typed(speaks.take_over(attempt(2s), orphan{"somebody:1", "3"})) ==
        typed(speaks.acquire(attempt(2s)))
    );
    BOOST_TEST(
        typed(speaks.release({.on = on, .id = id, .timeout = 3s, .patience = 2s})) ==
        "fair_lock.release 5 " + release_keys + " " + holder + " 0 2000 0 0"
    );
    BOOST_TEST(
        typed(speaks.release(
            {.on = on, .id = id, .timeout = 3s, .window = 2s, .held = {3, 50us}, .patience = 2s}
        )) ==
        "fair_lock.release 6 " + release_keys + " holdfast_hold:{foo} " + holder + " 1 2000 3 50"
    );
    BOOST_TEST(
        typed(speaks.inspect(on, 3s, false)) ==
        "fair_lock.inspect 3 foo redisson_lock_token:{foo} redisson_lock_queue:{foo}"
    );
    BOOST_TEST(
        typed(speaks.force_release(on, 3s, 2s)) ==
        "fair_lock.force_release 5 " + release_keys + " 2000"
    );
}

BOOST_AUTO_TEST_CASE(the_answers_to_an_attempt) {
    auto const& speaks = fair_lock_protocol();
    auto const granted = speaks.read_acquire(reply_of(1, 1'234));
    BOOST_TEST((granted.what == attempt_reply::kind::granted));
    BOOST_TEST((granted.token == fencing_token{1'234}));

    auto const queued = speaks.read_acquire(reply_of(0, 500, 0, 1, 1'700'000, 0));
    BOOST_TEST((queued.what == attempt_reply::kind::busy));
    BOOST_TEST((queued.remaining == 500ms));
    BOOST_TEST(!queued.endless);
    BOOST_REQUIRE(queued.place.has_value());
    BOOST_TEST(queued.place->server_time == 1'700'000U);

    // It is asked for again, also if the lock has no end.
    auto const endless = speaks.read_acquire(reply_of(0, 500, 1, 0, 0, 0));
    BOOST_TEST((endless.remaining == 500ms));
    BOOST_TEST(endless.endless);
    BOOST_TEST(!endless.place.has_value());
    BOOST_TEST(!endless.orphan.has_value());

    BOOST_TEST((speaks.read_acquire(reply_of(2)).what == attempt_reply::kind::corrupt));
    BOOST_TEST((speaks.read_acquire(reply_of()).what == attempt_reply::kind::corrupt));
}

BOOST_AUTO_TEST_SUITE_END()
