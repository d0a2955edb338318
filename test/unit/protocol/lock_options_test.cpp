// How the library speaks of a lock where more is said than in the usual case: learned leases,
// places in the queue, locks that have no end.

#include "protocol/lock.hpp"
#include "unit/calls.hpp"
#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <limits>
#include <string>

using namespace std::chrono_literals;
using namespace std::string_literals;
using holdfast::detail::holder_id;
using holdfast::detail::lock_protocol;
using holdfast::detail::make_lock_target;
using holdfast::detail::primitive;
using holdfast::test::reply_of;
using holdfast::test::typed;

namespace {

auto const on = make_lock_target("", "foo");
holder_id const id{"0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", 84};
std::string const holder{id.view()};

primitive::attempt plain_attempt() {
    return {
        .on = on,
        .id = id,
        .lease = 30s,
        .counter_ttl = 24h,
        .timeout = 3s,
    };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lock_options_test)

BOOST_AUTO_TEST_CASE(a_learned_lease_has_a_key_of_its_own) {
    auto const& speaks = lock_protocol();
    auto asked = plain_attempt();
    asked.learned = primitive::learning{5s, 6};
    BOOST_TEST(
        typed(speaks.acquire(asked)) ==
        "lock.acquire 3 foo redisson_lock_token:{foo} holdfast_hold:{foo} 30000 " + holder +
            " 86400000 1 0 0 0 5000 6"
    );
    asked.preflight = true;
    asked.hand_over = true;
    BOOST_TEST(
        typed(speaks.acquire(asked)) ==
        "lock.acquire 5 foo redisson_lock_token:{foo} holdfast_queue:{foo} "
        "redisson_lock__channel:{foo} holdfast_hold:{foo} 30000 " +
            holder + " 86400000 1 1 0 1 5000 6"
    );
    BOOST_TEST(
        typed(speaks.renew(
            {.on = on,
             .id = id,
             .lease = 30s,
             .timeout = 3s,
             .tokens = 2,
             .counter_ttl = 24h,
             .learned = primitive::learning{5s, 6},
             .held = {3, 50ms}}
        )) ==
        "lock.renew 4 foo redisson_lock_token:{foo} holdfast_queue:{foo} holdfast_hold:{foo} "
        "30000 " +
            holder + " 2 86400000 3 50000 5000 6"
    );
    BOOST_TEST(
        typed(speaks.release({.on = on, .id = id, .timeout = 3s, .held = {1, 1'500us}})) ==
        "lock.release 3 foo redisson_lock__channel:{foo} holdfast_hold:{foo} " + holder +
            "   0 0 1 1500"
    );
    BOOST_TEST(
        typed(speaks.release(
            {.on = on,
             .id = id,
             .timeout = 3s,
             .hand_over = true,
             .counter_ttl = 24h,
             .held = {1, 1'500us}}
        )) ==
        "lock.release 5 foo redisson_lock__channel:{foo} holdfast_queue:{foo} "
        "redisson_lock_token:{foo} holdfast_hold:{foo} " +
            holder + "   86400000 0 1 1500"
    );
    auto const tagged = make_lock_target("", "a{b}");
    primitive::parting const released{
        .on = tagged,
        .id = id,
        .timeout = 3s,
        .held = {1, 1ms},
    };
    BOOST_TEST(typed(speaks.release(released)).find(" holdfast_hold:a{b} ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(each_argument_has_its_place) {
    auto const& speaks = lock_protocol();
    auto asked = plain_attempt();
    asked.hand_over = true;
    BOOST_TEST(typed(speaks.acquire(asked)).ends_with(holder + " 86400000 1 1 0 0 0 0"));
    asked.tokens = 2;
    BOOST_TEST(typed(speaks.acquire(asked)).ends_with(" 86400000 2 1 0 0 0 0"));
    asked.tokens = 1;
    asked.window = 3s;
    BOOST_TEST(typed(speaks.acquire(asked)).ends_with(" 86400000 1 3000 0 0 0 0"));
    primitive::parting released{
        .on = on,
        .id = id,
        .timeout = 3s,
        .hand_over = true,
        .counter_ttl = 24h,
    };
    BOOST_TEST(typed(speaks.release(released)).ends_with(holder + "   86400000 0 0 0"));
    released.next = primitive::queue_entry{
        holder_id::of_number("0f4b1c5e-7a3d-4e8b-9c21-d5a6f7e80123", 43),
        2s
    };
    BOOST_TEST(typed(speaks.release(released)).ends_with(":43 2000 86400000 0 0 0"));
    released.next.reset();
    released.window = 1s;
    BOOST_TEST(typed(speaks.release(released)).ends_with(holder + " 1000  86400000 0 0 0"));
}

BOOST_AUTO_TEST_CASE(while_grants_are_held_back_only_an_entry_is_a_reason_to_look_at_the_queue) {
    auto const& speaks = lock_protocol();
    primitive::parting released{
        .on = on,
        .id = id,
        .timeout = 3s,
        .hand_over = true,
        .held_back = true,
        .counter_ttl = 24h,
    };
    BOOST_TEST(
        typed(speaks.release(released)) ==
        "lock.release 2 foo redisson_lock__channel:{foo} " + holder + "   86400000 1 0 0"
    );
    released.window = 1s;
    BOOST_TEST(
        typed(speaks.release(released)) ==
        "lock.release 4 foo redisson_lock__channel:{foo} holdfast_queue:{foo} "
        "redisson_lock_token:{foo} " +
            holder + " " + holder + " 1000  86400000 1 0 0"
    );
    released.hand_over = false;
    BOOST_TEST(typed(speaks.release(released)).find("queue") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_lease_that_a_script_worked_out_is_what_counts) {
    auto const& speaks = lock_protocol();
    auto const granted = speaks.read_acquire(reply_of(1, 7, 1, 5'000, 50'000));
    BOOST_TEST((granted.learned.lease == 5s));
    BOOST_TEST((granted.learned.usual_hold == 50ms));
    BOOST_TEST(granted.learned.allowed);
    BOOST_TEST(granted.may_hand_over);
    BOOST_TEST(!speaks.read_acquire(reply_of(1, 7, 0, 5'000, 0)).may_hand_over);
    BOOST_TEST(!speaks.read_acquire(reply_of(1, 7, 1, 30'000, -1)).learned.allowed);
    BOOST_TEST((speaks.read_acquire(reply_of(1, 7)).learned.lease == 0s));
    BOOST_TEST((speaks.read_renew(reply_of(1, 7, 0, 0, 6'000, 1)).learned.lease == 6s));
    using limits = std::numeric_limits<std::int64_t>;
    for (auto const number : {limits::min(), limits::max()}) {
        auto const strange = speaks.read_acquire(reply_of(1, 7, 1, number, number)).learned;
        BOOST_TEST((strange.lease >= 0s));
        BOOST_TEST((strange.usual_hold >= 0s));
        BOOST_TEST((strange.usual_hold < 28h));
    }
}

BOOST_AUTO_TEST_CASE(a_lock_without_an_end_shows_who_has_it) {
    auto const& speaks = lock_protocol();
    auto const seen = speaks.read_acquire(reply_of(0, -1, 0, 0, 0, 2, "a tool:1"s));
    BOOST_TEST((seen.orphan == holdfast::detail::orphan{"a tool:1", "2"}));
    BOOST_TEST(!seen.place.has_value());
    auto const queued = speaks.read_acquire(reply_of(0, -1, 8, 9, 1, 2, "tool:1"s));
    BOOST_TEST(queued.orphan.has_value());
    BOOST_TEST(queued.place.has_value());
    BOOST_TEST(!speaks.read_acquire(reply_of(0, -1)).orphan.has_value());
    BOOST_TEST(!speaks.read_acquire(reply_of(0, 250, 0, 0, 0, 2, "tool:1"s)).orphan.has_value());
}

BOOST_AUTO_TEST_CASE(a_lock_is_taken_over_as_it_was_seen) {
    auto const& speaks = lock_protocol();
    auto asked = plain_attempt();
    BOOST_TEST(
        typed(speaks.take_over(asked, {"tool:1", "2"})) ==
        "lock.take_over 2 foo redisson_lock_token:{foo} 30000 " + holder + " 86400000 1  tool:1 2"
    );
    asked.hand_over = true;
    asked.window = 3s;
    BOOST_TEST(
        typed(speaks.take_over(asked, {"tool:1", "2"})) ==
        "lock.take_over 3 foo redisson_lock_token:{foo} holdfast_queue:{foo} 30000 " + holder +
            " 86400000 1 " + holder + " 3000 tool:1 2"
    );
}
BOOST_AUTO_TEST_SUITE_END()
