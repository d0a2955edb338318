// When the first waiter of a key tries: that no release is missed between attempts, subscriptions
// and broken connections, and that nobody tries without need.

#include "core/wait_queue_fsm.hpp"

#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <optional>

using namespace std::chrono_literals;
using holdfast::detail::millis;
using holdfast::detail::time_point;
using holdfast::detail::wait_queue_fsm;

namespace {

constexpr time_point t0{1'000s};
constexpr auto fallback = 5s;
constexpr auto jitter = 7ms;

wait_queue_fsm fresh() {
    return {fallback, 50ms, 2s};
}

bool tries_at_once(wait_queue_fsm const& fsm) {
    return fsm.attempt_at() == time_point::min();
}

// Refused, subscribed and refused again: sleeps until the holder's end at t0 + 30 s.
wait_queue_fsm asleep() {
    auto fsm = fresh();
    fsm.on_attempt_sent(t0);
    fsm.on_busy(30s, jitter, t0);
    fsm.on_subscribed(0ns, t0);
    fsm.on_attempt_sent(t0);
    fsm.on_busy(30s, jitter, t0);
    return fsm;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(wait_queue_fsm_test)

BOOST_AUTO_TEST_CASE(the_first_attempt_is_made_at_once) {
    auto const fsm = fresh();
    BOOST_TEST(tries_at_once(fsm));
    BOOST_TEST(!fsm.wants_notifications());
    BOOST_TEST(!fsm.busy_since(t0));
}

// A server counts in whole milliseconds. A waiter asks again after the end, not many times before.
BOOST_AUTO_TEST_CASE(in_the_last_millisecond_of_a_lease_nothing_is_asked_at_once) {
    auto fsm = asleep();
    fsm.on_attempt_sent(t0);
    fsm.on_busy(0ms, 0ns, t0);
    BOOST_TEST((fsm.attempt_at() == t0 + 1ms));
}

BOOST_AUTO_TEST_CASE(one_attempt_at_a_time) {
    auto fsm = fresh();
    fsm.on_attempt_sent(t0);
    BOOST_TEST(!fsm.attempt_at().has_value());
    fsm.on_news();
    fsm.on_subscribed(0ns, t0);
    BOOST_TEST(!fsm.attempt_at().has_value());
}

BOOST_AUTO_TEST_CASE(
    a_refusal_asks_for_notifications_and_sleeps_no_longer_than_the_fallback_without_them
) {
    auto fsm = fresh();
    fsm.on_attempt_sent(t0);
    fsm.on_busy(30s, jitter, t0);
    BOOST_TEST(fsm.wants_notifications());
    BOOST_TEST(fsm.busy_since(t0));
    BOOST_TEST(fsm.attempt_at().value() == t0 + fallback);
}

BOOST_AUTO_TEST_CASE(the_confirmation_of_a_subscription_makes_it_try_again) {
    auto fsm = fresh();
    fsm.on_attempt_sent(t0);
    fsm.on_busy(30s, jitter, t0);
    fsm.on_subscribed(0ns, t0 + 1ms);
    BOOST_TEST(tries_at_once(fsm));
}

BOOST_AUTO_TEST_CASE(only_a_refusal_under_a_confirmed_subscription_is_slept_on) {
    BOOST_TEST(asleep().attempt_at().value() == t0 + 30s + jitter);
}

BOOST_AUTO_TEST_CASE(a_subscription_confirmed_during_an_attempt_outdates_its_refusal) {
    auto fsm = fresh();
    fsm.on_attempt_sent(t0);
    fsm.on_busy(30s, jitter, t0);
    fsm.on_news();
    fsm.on_attempt_sent(t0);
    fsm.on_subscribed(0ns, t0 + 1ms);
    fsm.on_busy(30s, jitter, t0 + 2ms);
    BOOST_TEST(tries_at_once(fsm));
}

BOOST_AUTO_TEST_CASE(a_re_subscription_during_an_attempt_outdates_its_refusal_too) {
    auto fsm = asleep();
    fsm.on_unsubscribed(t0 + 1s);
    fsm.on_news();
    fsm.on_attempt_sent(t0);
    // The release may have been announced between the attempt and the confirmation.
    fsm.on_subscribed(10ms, t0 + 2s);
    fsm.on_busy(28s, jitter, t0 + 2s);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 2s + 10ms);
}

BOOST_AUTO_TEST_CASE(a_re_subscription_makes_it_try_after_the_delay_that_spreads_the_herd) {
    auto fsm = asleep();
    fsm.on_unsubscribed(t0 + 1s);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 1s + fallback);
    fsm.on_subscribed(10ms, t0 + 2s);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 2s + 10ms);
}

BOOST_AUTO_TEST_CASE(a_notification_wakes_it) {
    auto fsm = asleep();
    fsm.on_news();
    BOOST_TEST(tries_at_once(fsm));
}

BOOST_AUTO_TEST_CASE(a_notification_during_an_attempt_outdates_its_refusal) {
    auto fsm = asleep();
    fsm.on_news();
    fsm.on_attempt_sent(t0);
    fsm.on_news();
    fsm.on_busy(30s, jitter, t0 + 1s);
    BOOST_TEST(tries_at_once(fsm));
}

BOOST_AUTO_TEST_CASE(a_notification_is_used_up_by_one_attempt) {
    auto fsm = asleep();
    fsm.on_news();
    fsm.on_attempt_sent(t0);
    fsm.on_busy(20s, jitter, t0 + 1s);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 21s + jitter);
}

BOOST_AUTO_TEST_CASE(a_waiter_that_leaves_during_its_attempt_passes_the_wake_on) {
    auto fsm = asleep();
    fsm.on_news();
    fsm.on_attempt_sent(t0);
    fsm.on_undecided();
    BOOST_TEST(tries_at_once(fsm));
}

BOOST_AUTO_TEST_CASE(
    after_a_grant_to_one_of_ours_the_next_sleeps_until_a_notification_or_the_end_of_that_lease
) {
    auto fsm = asleep();
    fsm.on_news();
    fsm.on_attempt_sent(t0);
    fsm.on_granted(30s, true, t0 + 1s);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 31s);
    BOOST_TEST(fsm.busy_since(t0));
    fsm.on_news();
    BOOST_TEST(tries_at_once(fsm));
}

BOOST_AUTO_TEST_CASE(a_first_grant_without_a_subscription_asks_for_notifications) {
    auto fsm = fresh();
    fsm.on_attempt_sent(t0);
    fsm.on_granted(30s, true, t0);
    BOOST_TEST(fsm.wants_notifications());
    BOOST_TEST(fsm.attempt_at().value() == t0 + fallback);
}

BOOST_AUTO_TEST_CASE(a_grant_beside_which_others_may_have_one_does_not_say_that_nothing_is_left) {
    auto fsm = fresh();
    fsm.on_attempt_sent(t0);
    fsm.on_granted(30s, false, t0);
    BOOST_TEST(!fsm.busy_since(t0));
    BOOST_TEST(fsm.asked_since(t0));
    BOOST_TEST(!fsm.asked_since(t0 + 1ns));
}

BOOST_AUTO_TEST_CASE(a_key_without_an_expiry_is_looked_at_every_fallback) {
    auto fsm = asleep();
    fsm.on_news();
    fsm.on_attempt_sent(t0);
    fsm.on_busy(std::nullopt, jitter, t0);
    BOOST_TEST(fsm.attempt_at().value() == t0 + fallback);
}

BOOST_AUTO_TEST_CASE(an_expiry_beyond_the_end_of_time_is_neither_overflow_nor_a_spin) {
    for (auto const remaining :
         {millis{9'300'000'000'000}, millis{185'542'587'100'800'000}, millis::max()}) {
        auto fsm = asleep();
        fsm.on_news();
        fsm.on_attempt_sent(t0);
        fsm.on_busy(remaining, jitter, t0);
        BOOST_TEST(fsm.attempt_at().value() > t0 + 24h);
    }
}

BOOST_AUTO_TEST_CASE(setbacks_back_off_with_jitter_and_an_answer_resets_them) {
    auto fsm = fresh();
    fsm.on_attempt_sent(t0);
    fsm.on_setback(0.5, t0);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 25ms);
    fsm.on_attempt_sent(t0);
    fsm.on_setback(0.5, t0);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 50ms);
    for (int i = 0; i < 20; ++i) {
        fsm.on_attempt_sent(t0);
        fsm.on_setback(0.5, t0);
    }
    BOOST_TEST(fsm.attempt_at().value() == t0 + 1s);
    fsm.on_attempt_sent(t0);
    fsm.on_busy(1s, jitter, t0);
    fsm.on_attempt_sent(t0);
    fsm.on_setback(0.5, t0);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 25ms);
}

BOOST_AUTO_TEST_CASE(a_setback_without_an_answer_leaves_the_last_answer_as_it_was) {
    auto fsm = asleep();
    fsm.on_attempt_sent(t0);
    fsm.on_setback(0.5, t0);
    BOOST_TEST(fsm.busy_since(t0));
}

BOOST_AUTO_TEST_CASE(nothing_is_tried_without_a_connection_and_a_new_one_makes_it_try) {
    auto fsm = asleep();
    fsm.on_disconnected();
    fsm.on_news();
    BOOST_TEST(!fsm.attempt_at().has_value());
    fsm.on_connected(3ms, t0 + 1s);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 1s + 3ms);
    fsm.on_news();
    BOOST_TEST(tries_at_once(fsm));
}

BOOST_AUTO_TEST_CASE(a_new_connection_spreads_the_first_attempts_of_those_that_came_without_one) {
    auto fsm = fresh();
    fsm.on_disconnected();
    fsm.on_connected(3ms, t0 + 1s);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 1s + 3ms);
}

BOOST_AUTO_TEST_CASE(busy_counts_only_if_the_server_was_asked_since) {
    auto fsm = fresh();
    fsm.on_attempt_sent(t0);
    BOOST_TEST(!fsm.busy_since(t0));
    // The answer tells what was true when the question was sent, or later.
    fsm.on_busy(30s, jitter, t0 + 2s);
    BOOST_TEST(fsm.busy_since(t0));
    BOOST_TEST(!fsm.busy_since(t0 + 1ns));
    fsm.on_news();
    fsm.on_attempt_sent(t0 + 3s);
    BOOST_TEST(!fsm.busy_since(t0 + 1s));
    fsm.on_busy(30s, jitter, t0 + 4s);
    BOOST_TEST(fsm.busy_since(t0 + 3s));
}

BOOST_AUTO_TEST_CASE(a_newcomer_that_soon_gives_up_has_the_server_asked_at_once) {
    auto fsm = asleep();
    fsm.on_newcomer(true, t0 + 1ms);
    BOOST_TEST(tries_at_once(fsm));
}

BOOST_AUTO_TEST_CASE(other_newcomers_have_it_asked_a_few_times_a_second_together) {
    auto fsm = asleep();
    fsm.on_newcomer(false, t0 + 1ms);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 250ms);
    fsm.on_newcomer(false, t0 + 2ms);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 250ms);
    auto later = asleep();
    later.on_newcomer(false, t0 + 10s);
    BOOST_TEST(later.attempt_at().value() == t0 + 10s);
}

BOOST_AUTO_TEST_CASE(a_newcomer_never_delays_an_attempt) {
    auto fsm = fresh();
    fsm.on_attempt_sent(t0);
    fsm.on_busy(100ms, jitter, t0);
    fsm.on_newcomer(false, t0 + 1ms);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 100ms + jitter);
}

BOOST_AUTO_TEST_CASE(a_connection_that_breaks_under_an_attempt_makes_it_try_on_the_next_one) {
    auto fsm = asleep();
    fsm.on_news();
    fsm.on_attempt_sent(t0);
    fsm.on_disconnected();
    fsm.on_setback(0.9, t0);
    BOOST_TEST(!fsm.attempt_at().has_value());
    fsm.on_connected(0ms, t0 + 10ms);
    BOOST_TEST(fsm.attempt_at().value() == t0 + 10ms);
}

BOOST_AUTO_TEST_SUITE_END()
