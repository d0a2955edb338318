// How an acquisition ends: every answer, every kind of patience, both requests for cancellation,
// the limit, the end of the client; and that no grant is forgotten on the server.

#include "core/acquire_fsm.hpp"

#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::error_code;
using holdfast::detail::acquire_fsm;
using holdfast::detail::attempt_answer;
using holdfast::detail::cancel_request;
using holdfast::detail::patience;
using holdfast::detail::time_point;
using verdict = acquire_fsm::verdict;
using kind = acquire_fsm::verdict_kind;

namespace {

constexpr time_point usable_until{1'000s};
error_code const refused = errc::server_refused;
error_code const unreachable = errc::unreachable;

verdict const go_on{};
verdict const deliver{kind::deliver, {}, false};
verdict const deliver_and_withdraw{kind::deliver, {}, true};

verdict const aborted{kind::abort, {}, false};
verdict const aborted_and_withdrawn{kind::abort, {}, true};

verdict finish(error_code error, bool withdraw = false) {
    return {kind::finish, error, withdraw};
}

constexpr patience all_patience[] = {patience::unlimited, patience::one_attempt, patience::limited};
constexpr cancel_request both_requests[] = {
    cancel_request::at_once,
    cancel_request::after_the_reply
};

}  // namespace

BOOST_AUTO_TEST_SUITE(acquire_fsm_test)

BOOST_AUTO_TEST_CASE(a_grant_is_delivered_whatever_the_patience) {
    for (auto const how_long : all_patience) {
        acquire_fsm fsm{how_long};
        fsm.on_attempt_sent(usable_until);
        BOOST_TEST(fsm.in_flight());
        BOOST_TEST(fsm.on_answer(attempt_answer::granted, {}) == deliver);
        BOOST_TEST(fsm.done());
        BOOST_TEST(!fsm.in_flight());
    }
}

BOOST_AUTO_TEST_CASE(one_attempt_ends_with_the_first_answer) {
    struct {
        attempt_answer answer;
        error_code cause;
        verdict expected;
    } const table[] = {
        {attempt_answer::busy, {}, finish({})},
        {attempt_answer::refused, refused, finish(refused)},
        {attempt_answer::failed, errc::no_permission, finish(errc::no_permission)},
        {attempt_answer::unknown, unreachable, finish(unreachable, true)},
        {attempt_answer::unknown, {}, finish(unreachable, true)},
        {attempt_answer::unconfirmed, errc::not_replicated, finish(errc::not_replicated, true)},
        {attempt_answer::unconfirmed, errc::no_permission, finish(errc::no_permission, true)},
    };
    for (auto const& row : table) {
        BOOST_TEST_CONTEXT(row.answer) {
            acquire_fsm fsm{patience::one_attempt};
            fsm.on_attempt_sent(usable_until);
            BOOST_TEST(fsm.on_answer(row.answer, row.cause) == row.expected);
            BOOST_TEST(fsm.done());
        }
    }
}

BOOST_AUTO_TEST_CASE(an_attempt_that_was_never_sent_does_not_count_as_the_one) {
    acquire_fsm fsm{patience::one_attempt};
    fsm.on_attempt_sent(usable_until);
    BOOST_TEST(fsm.on_answer(attempt_answer::not_sent, {}) == go_on);
    BOOST_TEST(!fsm.in_flight());
    fsm.on_attempt_sent(usable_until);
    BOOST_TEST(fsm.on_answer(attempt_answer::busy, {}) == finish({}));
}

BOOST_AUTO_TEST_CASE(the_patient_go_on_after_all_that_may_pass_and_end_with_what_does_not) {
    for (auto const how_long : {patience::unlimited, patience::limited}) {
        acquire_fsm fsm{how_long};
        for (auto const answer :
             {attempt_answer::busy,
              attempt_answer::refused,
              attempt_answer::not_sent,
              attempt_answer::unknown}) {
            fsm.on_attempt_sent(usable_until);
            BOOST_TEST(fsm.on_answer(answer, refused) == go_on);
        }
        fsm.on_attempt_sent(usable_until);
        BOOST_TEST(
            fsm.on_answer(attempt_answer::failed, errc::corrupt_state) ==
            finish(errc::corrupt_state, true)
        );
    }
}

BOOST_AUTO_TEST_CASE(cancelled_while_nothing_is_in_flight_it_ends_at_once) {
    for (auto const how : both_requests) {
        for (auto const how_long : all_patience) {
            acquire_fsm fsm{how_long};
            BOOST_TEST(fsm.on_cancel(how) == aborted);
            BOOST_TEST(fsm.done());
        }
    }
}

BOOST_AUTO_TEST_CASE(cancelled_at_once_an_attempt_in_flight_is_withdrawn) {
    acquire_fsm fsm{patience::unlimited};
    fsm.on_attempt_sent(usable_until);
    BOOST_TEST(fsm.on_cancel(cancel_request::at_once) == aborted_and_withdrawn);
    // Nobody waits for its answer, or for anything else.
    BOOST_TEST(fsm.on_answer(attempt_answer::granted, {}) == go_on);
    BOOST_TEST(fsm.on_cancel(cancel_request::at_once) == go_on);
    BOOST_TEST(fsm.on_time_up(true, true, {}) == go_on);
    BOOST_TEST(fsm.on_ended(errc::client_stopped) == go_on);
}

BOOST_AUTO_TEST_CASE(cancelled_after_the_reply_a_grant_is_delivered) {
    acquire_fsm fsm{patience::unlimited};
    fsm.on_attempt_sent(usable_until);
    BOOST_TEST(fsm.on_cancel(cancel_request::after_the_reply) == go_on);
    BOOST_TEST(fsm.on_answer(attempt_answer::granted, {}) == deliver);
}

BOOST_AUTO_TEST_CASE(cancelled_after_the_reply_it_ends_with_any_other_answer) {
    struct {
        attempt_answer answer;
        bool withdraw;
    } const table[] = {
        {attempt_answer::busy, false},
        {attempt_answer::refused, false},
        {attempt_answer::failed, false},
        {attempt_answer::not_sent, false},
        {attempt_answer::unknown, true},
    };
    for (auto const& row : table) {
        for (auto const how_long : all_patience) {
            BOOST_TEST_CONTEXT(row.answer) {
                acquire_fsm fsm{how_long};
                fsm.on_attempt_sent(usable_until);
                BOOST_TEST(fsm.on_cancel(cancel_request::after_the_reply) == go_on);
                BOOST_TEST(
                    fsm.on_answer(row.answer, refused) ==
                    (row.withdraw ? aborted_and_withdrawn : aborted)
                );
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_second_and_stronger_cancellation_does_not_wait) {
    acquire_fsm fsm{patience::unlimited};
    fsm.on_attempt_sent(usable_until);
    BOOST_TEST(fsm.on_cancel(cancel_request::after_the_reply) == go_on);
    BOOST_TEST(fsm.on_cancel(cancel_request::at_once) == aborted_and_withdrawn);
}

BOOST_AUTO_TEST_CASE(the_limit_does_not_turn_a_cancellation_into_busy) {
    for (bool const busy : {false, true}) {
        acquire_fsm fsm{patience::limited};
        fsm.on_attempt_sent(usable_until);
        BOOST_TEST(fsm.on_cancel(cancel_request::after_the_reply) == go_on);
        BOOST_TEST(fsm.on_time_up(busy, true, {}) == aborted_and_withdrawn);
    }
}

BOOST_AUTO_TEST_CASE(a_decided_grant_is_beyond_cancellation) {
    acquire_fsm fsm{patience::unlimited};
    fsm.on_attempt_sent(usable_until);
    BOOST_TEST(fsm.on_answer(attempt_answer::granted, {}) == deliver);
    BOOST_TEST(fsm.on_cancel(cancel_request::at_once) == go_on);
    BOOST_TEST(fsm.on_time_up(false, false, {}) == go_on);
    BOOST_TEST(fsm.on_ended(errc::client_stopped) == go_on);
}

BOOST_AUTO_TEST_CASE(a_grant_that_arrives_too_late_counts_as_unknown) {
    acquire_fsm fsm{patience::unlimited};
    fsm.on_attempt_sent(usable_until);
    BOOST_TEST(fsm.judge(attempt_answer::granted, usable_until - 1ns) == attempt_answer::granted);
    BOOST_TEST(fsm.judge(attempt_answer::granted, usable_until) == attempt_answer::unknown);
    for (auto const other :
         {attempt_answer::busy,
          attempt_answer::refused,
          attempt_answer::failed,
          attempt_answer::not_sent}) {
        BOOST_TEST(fsm.judge(other, usable_until + 1h) == other);
    }
    // Each attempt has an end of its own.
    fsm.on_answer(attempt_answer::unknown, unreachable);
    fsm.on_attempt_sent(usable_until + 10s);
    BOOST_TEST(fsm.judge(attempt_answer::granted, usable_until) == attempt_answer::granted);
}

BOOST_AUTO_TEST_CASE(an_unanswered_attempt_is_withdrawn_however_it_ends_later) {
    auto const unsure = [] {
        acquire_fsm fsm{patience::limited};
        fsm.on_attempt_sent(usable_until);
        fsm.on_answer(attempt_answer::unknown, unreachable);
        fsm.on_attempt_sent(usable_until);
        fsm.on_answer(attempt_answer::busy, {});
        return fsm;
    };
    BOOST_TEST(unsure().on_cancel(cancel_request::after_the_reply) == aborted_and_withdrawn);
    BOOST_TEST(unsure().on_time_up(true, true, {}) == finish({}, true));
    BOOST_TEST(unsure().on_ended(errc::client_stopped) == finish(errc::client_stopped, true));
}

BOOST_AUTO_TEST_CASE(the_limit_is_success_without_a_lease_only_if_the_lock_was_found_busy) {
    struct {
        std::initializer_list<attempt_answer> answers;
        bool busy;
        error_code expected;
        bool withdraw;
    } const table[] = {
        {{}, false, unreachable, false},
        {{}, true, {}, false},
        {{attempt_answer::refused}, false, refused, false},
        {{attempt_answer::not_sent}, false, refused, false},
        {{attempt_answer::unknown}, false, refused, true},
        // Who was told "busy" since the operation began is for the queue to know.
        {{attempt_answer::busy}, true, {}, false},
        {{attempt_answer::busy}, false, unreachable, false},
        {{attempt_answer::busy, attempt_answer::unknown}, true, {}, true},
        {{attempt_answer::busy, attempt_answer::refused}, false, refused, false},
    };
    for (auto const& row : table) {
        acquire_fsm fsm{patience::limited};
        for (auto const answer : row.answers) {
            fsm.on_attempt_sent(usable_until);
            fsm.on_answer(answer, answer == attempt_answer::busy ? error_code{} : refused);
        }
        BOOST_TEST(fsm.on_time_up(row.busy, false, {}) == finish(row.expected, row.withdraw));
    }
}

BOOST_AUTO_TEST_CASE(the_limit_before_any_answer_reports_why_there_is_no_connection) {
    acquire_fsm fsm{patience::limited};
    BOOST_TEST(fsm.on_time_up(false, false, errc::auth_failed) == finish(errc::auth_failed));
}

BOOST_AUTO_TEST_CASE(the_limit_withdraws_an_attempt_in_flight) {
    acquire_fsm fsm{patience::limited};
    fsm.on_attempt_sent(usable_until);
    BOOST_TEST(fsm.on_time_up(false, false, {}) == finish(unreachable, true));
    BOOST_TEST(fsm.on_answer(attempt_answer::granted, {}) == go_on);
}

BOOST_AUTO_TEST_CASE(the_limit_waits_once_for_an_answer_that_may_come) {
    acquire_fsm fsm{patience::limited};
    fsm.on_attempt_sent(usable_until);
    BOOST_TEST(!fsm.overdue());
    BOOST_TEST(fsm.on_time_up(false, true, {}) == go_on);
    BOOST_TEST(fsm.overdue());
    BOOST_TEST(fsm.on_time_up(false, true, {}) == finish(unreachable, true));
    // Whoever knows that the lock is busy does not wait.
    acquire_fsm told{patience::limited};
    told.on_attempt_sent(usable_until);
    BOOST_TEST(told.on_time_up(true, true, {}) == finish({}, true));
}

BOOST_AUTO_TEST_CASE(the_answer_that_was_waited_for_beyond_the_limit_is_the_last) {
    struct {
        attempt_answer answer;
        error_code cause;
        verdict expected;
    } const table[] = {
        {attempt_answer::granted, {}, deliver},
        {attempt_answer::busy, {}, finish({})},
        {attempt_answer::refused, refused, finish(refused)},
        {attempt_answer::failed, errc::no_permission, finish(errc::no_permission)},
        {attempt_answer::unknown, {}, finish(unreachable, true)},
        {attempt_answer::unconfirmed, errc::not_replicated, finish(errc::not_replicated, true)},
        {attempt_answer::not_sent, refused, go_on},
    };
    for (auto const& row : table) {
        BOOST_TEST_CONTEXT(row.answer) {
            acquire_fsm fsm{patience::limited};
            fsm.on_attempt_sent(usable_until);
            BOOST_TEST(fsm.on_time_up(false, true, {}) == go_on);
            BOOST_TEST(fsm.on_answer(row.answer, row.cause) == row.expected);
        }
    }
}

BOOST_AUTO_TEST_CASE(cancelled_beyond_the_limit_it_ends_as_before_the_limit) {
    for (auto const how : both_requests) {
        acquire_fsm idle{patience::limited};
        BOOST_TEST(idle.on_time_up(false, true, {}) == go_on);
        BOOST_TEST(idle.on_cancel(how) == aborted);
    }
    acquire_fsm at_once{patience::limited};
    at_once.on_attempt_sent(usable_until);
    BOOST_TEST(at_once.on_time_up(false, true, {}) == go_on);
    BOOST_TEST(at_once.on_cancel(cancel_request::at_once) == aborted_and_withdrawn);

    acquire_fsm later{patience::limited};
    later.on_attempt_sent(usable_until);
    BOOST_TEST(later.on_time_up(false, true, {}) == go_on);
    BOOST_TEST(later.on_cancel(cancel_request::after_the_reply) == go_on);
    auto refused_later = later;
    BOOST_TEST(later.on_answer(attempt_answer::granted, {}) == deliver);
    BOOST_TEST(refused_later.on_answer(attempt_answer::busy, {}) == aborted);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_client_does_not_wait_for_an_overdue_answer) {
    acquire_fsm fsm{patience::limited};
    fsm.on_attempt_sent(usable_until);
    BOOST_TEST(fsm.on_time_up(false, true, {}) == go_on);
    BOOST_TEST(fsm.on_ended(errc::client_stopped) == finish(errc::client_stopped, true));
}

BOOST_AUTO_TEST_CASE(whose_owner_has_the_lock_joins_and_withdraws_what_may_still_be_granted) {
    acquire_fsm waiting{patience::unlimited};
    BOOST_TEST(waiting.on_joined() == deliver);
    BOOST_TEST(waiting.on_joined() == go_on);
    BOOST_TEST(waiting.on_cancel(cancel_request::at_once) == go_on);

    acquire_fsm trying{patience::one_attempt};
    trying.on_attempt_sent(usable_until);
    BOOST_TEST(trying.on_joined() == deliver_and_withdraw);
    BOOST_TEST(trying.on_answer(attempt_answer::busy, {}) == go_on);

    acquire_fsm unsure{patience::unlimited};
    unsure.on_attempt_sent(usable_until);
    unsure.on_answer(attempt_answer::unknown, unreachable);
    BOOST_TEST(unsure.on_joined() == deliver_and_withdraw);

    // A grant is delivered to a caller who asked to be let go of after the answer.
    acquire_fsm cancelled{patience::unlimited};
    cancelled.on_attempt_sent(usable_until);
    cancelled.on_cancel(cancel_request::after_the_reply);
    BOOST_TEST(cancelled.on_joined() == deliver_and_withdraw);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_client_ends_it_with_the_cause) {
    acquire_fsm waiting{patience::unlimited};
    BOOST_TEST(waiting.on_ended(errc::client_stopped) == finish(errc::client_stopped));
    acquire_fsm trying{patience::unlimited};
    trying.on_attempt_sent(usable_until);
    BOOST_TEST(trying.on_ended(errc::no_permission) == finish(errc::no_permission, true));
}

BOOST_AUTO_TEST_CASE(a_grant_that_replicas_do_not_have_is_taken_back_and_tried_again) {
    for (auto const how_long : {patience::unlimited, patience::limited}) {
        acquire_fsm fsm{how_long};
        fsm.on_attempt_sent(usable_until);
        BOOST_TEST(fsm.on_answer(attempt_answer::unconfirmed, errc::not_replicated) == go_on);
        BOOST_TEST(fsm.on_time_up(false, false, unreachable) == finish(errc::not_replicated, true));
    }
}

BOOST_AUTO_TEST_SUITE_END()
