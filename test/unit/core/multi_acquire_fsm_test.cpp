// How an acquisition of several locks goes on: together first, then one by one in their order, with
// those before kept; what is lost meanwhile is taken again, and every end gives all back.

#include "core/multi_acquire_fsm.hpp"

#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

using holdfast::errc;
using holdfast::error_code;
using holdfast::detail::cancel_request;
using holdfast::detail::multi_acquire_fsm;
using holdfast::detail::patience;
using action = multi_acquire_fsm::action;
using step = multi_acquire_fsm::step;

namespace {

action const wait{};
action const abort_now{step::abort};
error_code const busy{};

action take(std::size_t which) {
    return {step::take, which};
}
action limit(std::size_t all) {
    return {step::limit, all};
}
action deliver(std::size_t all) {
    return {step::deliver, all};
}
action finish(error_code cause) {
    return {step::finish, 0, cause};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(multi_acquire_fsm_test)

BOOST_AUTO_TEST_CASE(all_at_once_is_the_whole_of_it_if_they_are_granted) {
    multi_acquire_fsm fsm{3, patience::unlimited};
    BOOST_TEST(fsm.start(true) == action{step::together});
    BOOST_TEST(fsm.on_together(3, false, {}) == deliver(3));
    BOOST_TEST(fsm.done());
}

BOOST_AUTO_TEST_CASE(those_that_are_refused_together_are_taken_one_by_one) {
    multi_acquire_fsm fsm{3, patience::unlimited};
    BOOST_TEST(fsm.start(true) == action{step::together});
    BOOST_TEST(fsm.on_together(0, true, {}) == take(0));
    BOOST_TEST(fsm.on_taken(1) == take(1));
    BOOST_TEST(fsm.kept() == 1U);
    BOOST_TEST(fsm.on_taken(2) == take(2));
    BOOST_TEST(fsm.on_taken(3) == deliver(3));
}

BOOST_AUTO_TEST_CASE(one_attempt_ends_with_the_first_refusal) {
    multi_acquire_fsm together{2, patience::one_attempt};
    static_cast<void>(together.start(true));
    BOOST_TEST(together.on_together(1, true, errc::unreachable) == finish(busy));

    multi_acquire_fsm unheard{2, patience::one_attempt};
    static_cast<void>(unheard.start(true));
    BOOST_TEST(unheard.on_together(0, false, errc::unreachable) == finish(errc::unreachable));

    multi_acquire_fsm apart{2, patience::one_attempt};
    static_cast<void>(apart.start(false));
    BOOST_TEST(apart.on_taken(1) == take(1));
    BOOST_TEST(apart.on_refused(busy) == finish(busy));
}

BOOST_AUTO_TEST_CASE(who_waits_asks_again_after_what_passes_and_ends_with_what_does_not) {
    multi_acquire_fsm passes{2, patience::unlimited};
    static_cast<void>(passes.start(true));
    BOOST_TEST(passes.on_together(0, false, errc::unreachable) == take(0));

    for (auto const how_long : {patience::unlimited, patience::one_attempt}) {
        multi_acquire_fsm stays{2, how_long};
        static_cast<void>(stays.start(true));
        BOOST_TEST(stays.on_together(0, true, errc::corrupt_state) == finish(errc::corrupt_state));
    }

    multi_acquire_fsm apart{2, patience::unlimited};
    static_cast<void>(apart.start(false));
    BOOST_TEST(apart.on_refused(errc::client_stopped) == finish(errc::client_stopped));
}

BOOST_AUTO_TEST_CASE(a_member_that_is_lost_is_taken_again_with_those_after_it) {
    multi_acquire_fsm fsm{4, patience::unlimited};
    static_cast<void>(fsm.start(false));
    static_cast<void>(fsm.on_taken(1));
    static_cast<void>(fsm.on_taken(2));
    BOOST_TEST(fsm.on_taken(3) == take(3));
    BOOST_TEST(fsm.on_lost(1, busy) == take(1));
    BOOST_TEST(fsm.kept() == 1U);
    BOOST_TEST(fsm.on_lost(1, busy) == wait);  // it was given back, too
    BOOST_TEST(fsm.on_taken(2) == take(2));
    // It was lost when the next one was granted.
    BOOST_TEST(fsm.on_taken(0) == take(0));
}

BOOST_AUTO_TEST_CASE(a_grant_that_completes_the_whole_counts_only_if_all_are_valid) {
    multi_acquire_fsm fsm{2, patience::unlimited};
    static_cast<void>(fsm.start(false));
    static_cast<void>(fsm.on_taken(1));
    BOOST_TEST(fsm.on_taken(0) == take(0));
    static_cast<void>(fsm.on_taken(1));
    BOOST_TEST(fsm.on_taken(2) == deliver(2));
}

BOOST_AUTO_TEST_CASE(a_cancellation_ends_it_at_once) {
    multi_acquire_fsm fsm{2, patience::unlimited};
    static_cast<void>(fsm.start(false));
    static_cast<void>(fsm.on_taken(1));
    BOOST_TEST(fsm.on_cancel(cancel_request::at_once) == abort_now);
    BOOST_TEST(fsm.on_taken(2) == wait);
    BOOST_TEST(fsm.on_lost(0, busy) == wait);
    BOOST_TEST(fsm.on_refused(busy) == wait);
    BOOST_TEST(fsm.on_together(2, false, {}) == wait);
    BOOST_TEST(fsm.on_time_up(true) == wait);
    BOOST_TEST(fsm.on_ended(errc::unreachable) == wait);
    BOOST_TEST(fsm.on_cancel(cancel_request::at_once) == wait);
}

BOOST_AUTO_TEST_CASE(a_cancellation_that_waits_for_the_reply_delivers_only_the_whole) {
    multi_acquire_fsm whole{2, patience::unlimited};
    static_cast<void>(whole.start(true));
    BOOST_TEST(whole.on_cancel(cancel_request::after_the_reply) == wait);
    BOOST_TEST(whole.on_together(2, false, {}) == deliver(2));

    multi_acquire_fsm refused{2, patience::unlimited};
    static_cast<void>(refused.start(true));
    static_cast<void>(refused.on_cancel(cancel_request::after_the_reply));
    BOOST_TEST(refused.on_together(0, true, {}) == abort_now);

    multi_acquire_fsm part{2, patience::unlimited};
    static_cast<void>(part.start(false));
    static_cast<void>(part.on_cancel(cancel_request::after_the_reply));
    BOOST_TEST(part.on_taken(1) == abort_now);

    multi_acquire_fsm last{2, patience::unlimited};
    static_cast<void>(last.start(false));
    static_cast<void>(last.on_taken(1));
    static_cast<void>(last.on_cancel(cancel_request::after_the_reply));
    BOOST_TEST(last.on_taken(2) == deliver(2));
}

BOOST_AUTO_TEST_CASE(limits_begin_when_all_are_kept) {
    multi_acquire_fsm together{2, patience::unlimited, true};
    static_cast<void>(together.start(true));
    BOOST_TEST(together.on_together(2, false, {}) == limit(2));
    BOOST_TEST(!together.done());
    BOOST_TEST(together.on_limited(2) == deliver(2));
    BOOST_TEST(together.done());
    BOOST_TEST(together.on_limited(2) == wait);

    multi_acquire_fsm apart{2, patience::unlimited, true};
    static_cast<void>(apart.start(false));
    static_cast<void>(apart.on_taken(1));
    BOOST_TEST(apart.on_taken(2) == limit(2));
    // What was granted is delivered.
    BOOST_TEST(apart.on_cancel(cancel_request::after_the_reply) == wait);
    BOOST_TEST(apart.on_limited(2) == deliver(2));
}

// The limits of the others may have begun: they would not be renewed while one is waited for.
BOOST_AUTO_TEST_CASE(if_one_is_lost_when_the_limits_begin_all_are_taken_anew) {
    multi_acquire_fsm told{2, patience::unlimited, true};
    static_cast<void>(told.start(true));
    static_cast<void>(told.on_together(2, false, {}));
    BOOST_TEST(told.on_lost(1, busy) == take(0));
    BOOST_TEST(told.on_taken(1) == take(1));
    // From then on one that is lost costs no other.
    BOOST_TEST(told.on_lost(0, busy) == take(0));

    multi_acquire_fsm found{3, patience::unlimited, true};
    static_cast<void>(found.start(true));
    static_cast<void>(found.on_together(3, false, {}));
    BOOST_TEST(found.on_limited(2) == take(0));

    multi_acquire_fsm cancelled{2, patience::unlimited, true};
    static_cast<void>(cancelled.start(true));
    static_cast<void>(cancelled.on_together(2, false, {}));
    static_cast<void>(cancelled.on_cancel(cancel_request::after_the_reply));
    BOOST_TEST(cancelled.on_lost(0, busy) == abort_now);

    multi_acquire_fsm given_up{2, patience::unlimited, true};
    static_cast<void>(given_up.start(true));
    static_cast<void>(given_up.on_together(2, false, {}));
    BOOST_TEST(given_up.on_cancel(cancel_request::at_once) == abort_now);
    BOOST_TEST(given_up.on_limited(2) == wait);
}

// One was busy at first, and its client has no room for a waiter.
BOOST_AUTO_TEST_CASE(success_without_a_lease_is_for_those_that_do_not_wait) {
    for (auto const how_long : {patience::unlimited, patience::limited}) {
        multi_acquire_fsm fsm{2, how_long};
        static_cast<void>(fsm.start(true));
        static_cast<void>(fsm.on_together(0, true, {}));
        BOOST_TEST(fsm.on_refused(errc::too_many_waiters) == finish(errc::too_many_waiters));
    }
    multi_acquire_fsm waits{2, patience::unlimited};
    static_cast<void>(waits.start(true));
    static_cast<void>(waits.on_together(0, true, {}));
    BOOST_TEST(waits.on_refused(errc::not_replicated) == finish(errc::not_replicated));
}

BOOST_AUTO_TEST_CASE(the_limit_ends_what_is_asked_together) {
    multi_acquire_fsm fsm{2, patience::limited};
    static_cast<void>(fsm.start(true));
    BOOST_TEST(fsm.on_time_up(false) == finish(errc::unreachable));

    multi_acquire_fsm cancelled{2, patience::limited};
    static_cast<void>(cancelled.start(true));
    static_cast<void>(cancelled.on_cancel(cancel_request::after_the_reply));
    BOOST_TEST(cancelled.on_time_up(true) == abort_now);
}

BOOST_AUTO_TEST_CASE(an_answer_that_may_come_is_waited_for_once) {
    auto const overdue = [] {
        multi_acquire_fsm fsm{2, patience::limited};
        static_cast<void>(fsm.start(true));
        BOOST_TEST(fsm.on_time_up(true) == wait);
        BOOST_TEST(fsm.overdue());
        return fsm;
    };
    BOOST_TEST(overdue().on_time_up(true) == finish(errc::unreachable));
    BOOST_TEST(overdue().on_together(2, false, {}) == deliver(2));
    BOOST_TEST(overdue().on_together(1, true, {}) == finish(busy));
    BOOST_TEST(
        overdue().on_together(0, false, errc::server_refused) == finish(errc::server_refused)
    );
    BOOST_TEST(overdue().on_cancel(cancel_request::at_once) == abort_now);
    BOOST_TEST(overdue().on_ended(errc::client_stopped) == finish(errc::client_stopped));
}

BOOST_AUTO_TEST_CASE(those_that_are_taken_one_by_one_have_as_much_time_together) {
    multi_acquire_fsm fsm{3, patience::limited};
    static_cast<void>(fsm.start(true));
    static_cast<void>(fsm.on_together(0, false, errc::unreachable));
    BOOST_TEST(fsm.on_time_up(true) == wait);
    BOOST_TEST(fsm.on_taken(1) == take(1));
    BOOST_TEST(fsm.on_time_up(true) == finish(errc::unreachable));
}

BOOST_AUTO_TEST_CASE(whoever_knows_that_one_is_busy_waits_for_no_further_answer) {
    multi_acquire_fsm fsm{3, patience::limited};
    static_cast<void>(fsm.start(true));
    static_cast<void>(fsm.on_together(0, true, {}));
    BOOST_TEST(fsm.on_taken(1) == take(1));
    BOOST_TEST(fsm.on_time_up(true) == finish(busy));
}

BOOST_AUTO_TEST_CASE(limits_that_are_about_to_begin_are_waited_for_once) {
    auto const limiting = [](bool one_was_busy) {
        multi_acquire_fsm fsm{2, patience::limited, true};
        static_cast<void>(fsm.start(true));
        if (one_was_busy) {
            static_cast<void>(fsm.on_together(1, true, {}));
            BOOST_TEST(fsm.on_taken(2) == limit(2));
        } else {
            BOOST_TEST(fsm.on_together(2, false, {}) == limit(2));
        }
        BOOST_TEST(fsm.on_time_up(true) == wait);
        BOOST_TEST(fsm.overdue());
        return fsm;
    };
    BOOST_TEST(limiting(true).on_limited(2) == deliver(2));
    BOOST_TEST(limiting(true).on_time_up(true) == finish(busy));
    BOOST_TEST(limiting(false).on_time_up(true) == finish(errc::unreachable));
    // There is no time to take them again.
    BOOST_TEST(limiting(true).on_limited(1) == finish(busy));
    BOOST_TEST(limiting(false).on_limited(1) == finish(errc::unreachable));
    BOOST_TEST(limiting(false).on_lost(1, errc::server_refused) == finish(errc::server_refused));
}

BOOST_AUTO_TEST_CASE(one_attempt_does_not_take_again_what_is_lost) {
    auto const half = [] {
        multi_acquire_fsm fsm{2, patience::one_attempt, true};
        BOOST_TEST(fsm.start(false) == take(0));
        BOOST_TEST(fsm.on_taken(1) == take(1));
        return fsm;
    };
    BOOST_TEST(half().on_lost(0, busy) == finish(busy));
    BOOST_TEST(half().on_lost(0, errc::unreachable) == finish(errc::unreachable));
    auto limiting = half();
    BOOST_TEST(limiting.on_taken(2) == limit(2));
    BOOST_TEST(limiting.on_limited(1) == finish(errc::unreachable));
}

BOOST_AUTO_TEST_CASE(a_limit_that_passes_in_silence_ends_as_busy_if_one_was) {
    multi_acquire_fsm asked{2, patience::limited};
    static_cast<void>(asked.start(true));
    static_cast<void>(asked.on_together(0, true, {}));
    BOOST_TEST(asked.on_refused(errc::unreachable) == finish(busy));

    multi_acquire_fsm stopped{2, patience::limited};
    static_cast<void>(stopped.start(true));
    static_cast<void>(stopped.on_together(0, true, {}));
    BOOST_TEST(stopped.on_refused(errc::client_stopped) == finish(errc::client_stopped));

    multi_acquire_fsm granted{2, patience::limited};
    static_cast<void>(granted.start(true));
    static_cast<void>(granted.on_together(0, true, {}));
    static_cast<void>(granted.on_taken(1));
    BOOST_TEST(granted.on_refused(errc::unreachable) == finish(busy));

    multi_acquire_fsm silent{2, patience::limited};
    static_cast<void>(silent.start(false));
    static_cast<void>(silent.on_taken(1));
    BOOST_TEST(silent.on_refused(errc::unreachable) == finish(errc::unreachable));
}

BOOST_AUTO_TEST_CASE(what_cannot_go_on_ends) {
    multi_acquire_fsm fsm{2, patience::unlimited};
    static_cast<void>(fsm.start(false));
    BOOST_TEST(fsm.on_ended(errc::unreachable) == finish(errc::unreachable));
    BOOST_TEST(fsm.done());
}

BOOST_AUTO_TEST_SUITE_END()
