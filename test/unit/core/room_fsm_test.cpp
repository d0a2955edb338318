// When the first waiter of a key tries: that no release is missed between attempts, subscriptions
// and broken connections, and that nobody tries without need.

#include "core/room_fsm.hpp"

#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <limits>
#include <optional>

using namespace std::chrono_literals;
using holdfast::detail::room_fsm;
using holdfast::detail::time_point;

namespace {

constexpr time_point t0{1'000s};
constexpr auto fallback = 5s;
constexpr auto jitter = 7ms;

room_fsm fresh() {
    return {fallback, 50ms, 2s};
}

bool tries_at_once(room_fsm const& fsm) {
    return fsm.attempt_at() == time_point::min();
}

// Refused, subscribed and refused again: sleeps until the holder's end at t0 + 30 s.
room_fsm asleep() {
    auto fsm = fresh();
    fsm.on_attempt_sent();
    fsm.on_busy(30'000, jitter, t0);
    fsm.on_subscribed(0ns, t0);
    fsm.on_attempt_sent();
    fsm.on_busy(30'000, jitter, t0);
    return fsm;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(room_fsm_test)

BOOST_AUTO_TEST_CASE(the_first_attempt_is_made_at_once) {
    auto const fsm = fresh();
    BOOST_TEST(tries_at_once(fsm));
    BOOST_TEST(!fsm.wants_notices());
    BOOST_TEST(!fsm.last_answer_was_busy());
}

BOOST_AUTO_TEST_CASE(one_attempt_at_a_time) {
    auto fsm = fresh();
    fsm.on_attempt_sent();
    BOOST_TEST(!fsm.attempt_at().has_value());
    fsm.on_news();
    fsm.on_subscribed(0ns, t0);
    BOOST_TEST(!fsm.attempt_at().has_value());
}

BOOST_AUTO_TEST_CASE(a_refusal_asks_for_notices_and_sleeps_no_longer_than_the_fallback_without_them
) {
    auto fsm = fresh();
    fsm.on_attempt_sent();
    fsm.on_busy(30'000, jitter, t0);
    BOOST_TEST(fsm.wants_notices());
    BOOST_TEST(fsm.last_answer_was_busy());
    BOOST_TEST(fsm.attempt_at().value() == t0 + fallback);
}

BOOST_AUTO_TEST_CASE(the_confirmation_of_a_subscription_makes_it_try_again) {
    auto fsm = fresh();
    fsm.on_attempt_sent();
    fsm.on_busy(30'000, jitter, t0);
    fsm.on_subscribed(0ns, t0 + 1ms);
    BOOST_TEST(tries_at_once(fsm));
}

BOOST_AUTO_TEST_CASE(only_a_refusal_under_a_confirmed_subscription_is_slept_on) {
    BOOST_TEST(asleep().attempt_at().value() == t0 + 30s + jitter);
}

BOOST_AUTO_TEST_CASE(a_subscription_confirmed_during_an_attempt_outdates_its_refusal) {
    auto fsm = fresh();
    fsm.on_attempt_sent();
    fsm.on_busy(30'000, jitter, t0);
    fsm.on_news();
    fsm.on_attempt_sent();
    fsm.on_subscribed(0ns, t0 + 1ms);
    fsm.on_busy(30'000, jitter, t0 + 2ms);
    BOOST_TEST(tries_at_once(fsm));
}

BOOST_AUTO_TEST_CASE(a_re_subscription_during_an_attempt_outdates_its_refusal_too) {
    auto fsm = asleep();
    fsm.on_unsubscribed(t0 + 1s);
    fsm.on_news();
    fsm.on_attempt_sent();
    // The release may have been announced between the attempt and the confirmation.
    fsm.on_subscribed(10ms, t0 + 2s);
    fsm.on_busy(28'000, jitter, t0 + 2s);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 2s + 10ms);
}

BOOST_AUTO_TEST_CASE(a_re_subscription_during_an_attempt_outdates_its_grant_too) {
    auto fsm = asleep();
    fsm.on_unsubscribed(t0 + 1s);
    fsm.on_news();
    fsm.on_attempt_sent();
    fsm.on_subscribed(10ms, t0 + 2s);
    fsm.on_granted(30s, t0 + 2s);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 2s + 10ms);
}

BOOST_AUTO_TEST_CASE(a_re_subscription_makes_it_try_after_the_delay_that_spreads_the_herd) {
    auto fsm = asleep();
    fsm.on_unsubscribed(t0 + 1s);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 1s + fallback);
    fsm.on_subscribed(10ms, t0 + 2s);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 2s + 10ms);
}

BOOST_AUTO_TEST_CASE(a_notice_wakes_it) {
    auto fsm = asleep();
    fsm.on_news();
    BOOST_TEST(tries_at_once(fsm));
}

BOOST_AUTO_TEST_CASE(a_notice_during_an_attempt_outdates_its_refusal) {
    auto fsm = asleep();
    fsm.on_news();
    fsm.on_attempt_sent();
    fsm.on_news();
    fsm.on_busy(30'000, jitter, t0 + 1s);
    BOOST_TEST(tries_at_once(fsm));
}

BOOST_AUTO_TEST_CASE(a_notice_is_used_up_by_one_attempt) {
    auto fsm = asleep();
    fsm.on_news();
    fsm.on_attempt_sent();
    fsm.on_busy(20'000, jitter, t0 + 1s);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 21s + jitter);
}

BOOST_AUTO_TEST_CASE(a_waiter_that_leaves_during_its_attempt_passes_the_wake_on) {
    auto fsm = asleep();
    fsm.on_news();
    fsm.on_attempt_sent();
    fsm.on_undecided();
    BOOST_TEST(tries_at_once(fsm));
}

BOOST_AUTO_TEST_CASE(
    after_a_grant_to_one_of_ours_the_next_sleeps_until_a_notice_or_the_end_of_that_lease
) {
    auto fsm = asleep();
    fsm.on_news();
    fsm.on_attempt_sent();
    fsm.on_granted(30s, t0 + 1s);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 31s);
    BOOST_TEST(fsm.last_answer_was_busy());
    fsm.on_news();
    BOOST_TEST(tries_at_once(fsm));
}

BOOST_AUTO_TEST_CASE(a_first_grant_without_a_subscription_asks_for_notices) {
    auto fsm = fresh();
    fsm.on_attempt_sent();
    fsm.on_granted(30s, t0);
    BOOST_TEST(fsm.wants_notices());
    BOOST_TEST(fsm.attempt_at().value() == t0 + fallback);
}

BOOST_AUTO_TEST_CASE(a_key_without_an_expiry_is_looked_at_every_fallback) {
    auto fsm = asleep();
    fsm.on_news();
    fsm.on_attempt_sent();
    fsm.on_busy(-1, jitter, t0);
    BOOST_TEST(fsm.attempt_at().value() == t0 + fallback);
}

BOOST_AUTO_TEST_CASE(an_expiry_beyond_the_end_of_time_is_neither_overflow_nor_a_spin) {
    for (auto const remaining :
         {std::int64_t{9'300'000'000'000},
          std::int64_t{185'542'587'100'800'000},
          std::numeric_limits<std::int64_t>::max()}) {
        auto fsm = asleep();
        fsm.on_news();
        fsm.on_attempt_sent();
        fsm.on_busy(remaining, jitter, t0);
        BOOST_TEST(fsm.attempt_at().value() > t0 + 24h);
    }
}

BOOST_AUTO_TEST_CASE(setbacks_back_off_with_jitter_and_an_answer_resets_them) {
    auto fsm = fresh();
    fsm.on_attempt_sent();
    fsm.on_setback(0.5, t0);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 25ms);
    fsm.on_attempt_sent();
    fsm.on_setback(0.5, t0);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 50ms);
    for (int i = 0; i < 20; ++i) {
        fsm.on_attempt_sent();
        fsm.on_setback(0.5, t0);
    }
    BOOST_TEST(fsm.attempt_at().value() == t0 + 1s);
    fsm.on_attempt_sent();
    fsm.on_busy(1'000, jitter, t0);
    fsm.on_attempt_sent();
    fsm.on_setback(0.5, t0);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 25ms);
}

BOOST_AUTO_TEST_CASE(a_setback_without_an_answer_leaves_the_last_answer_as_it_was) {
    auto fsm = asleep();
    fsm.on_attempt_sent();
    fsm.on_setback(0.5, t0);
    BOOST_TEST(fsm.last_answer_was_busy());
}

BOOST_AUTO_TEST_CASE(a_server_that_refuses_takes_back_that_the_lock_is_busy) {
    auto fsm = asleep();
    fsm.on_attempt_sent();
    fsm.on_refused(0.5, t0);
    BOOST_TEST(!fsm.last_answer_was_busy());
    BOOST_TEST(fsm.attempt_at().value() == t0 + 25ms);
}

BOOST_AUTO_TEST_CASE(nothing_is_tried_without_a_connection_and_a_new_one_makes_it_try) {
    auto fsm = asleep();
    fsm.on_disconnected();
    fsm.on_news();
    BOOST_TEST(!fsm.attempt_at().has_value());
    fsm.on_connected();
    BOOST_TEST(tries_at_once(fsm));
}

BOOST_AUTO_TEST_CASE(a_connection_that_breaks_under_an_attempt_makes_it_try_on_the_next_one) {
    auto fsm = asleep();
    fsm.on_news();
    fsm.on_attempt_sent();
    fsm.on_disconnected();
    fsm.on_setback(0.9, t0);
    BOOST_TEST(!fsm.attempt_at().has_value());
    fsm.on_connected();
    BOOST_TEST(tries_at_once(fsm));
}

BOOST_AUTO_TEST_SUITE_END()
