// How an acquisition ends: every answer, every kind of patience, cancellation of each type, the
// limit, the end of the client; and that no grant is forgotten on the server.

#include "core/acquire_fsm.hpp"

#include "unit/printers.hpp"

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

namespace asio = boost::asio;
using asio::cancellation_type;
using holdfast::errc;
using holdfast::error_code;
using holdfast::detail::acquire_fsm;
using holdfast::detail::attempt_answer;
using holdfast::detail::patience;
using verdict = acquire_fsm::verdict;
using kind = acquire_fsm::verdict_kind;

namespace {

error_code const aborted = asio::error::operation_aborted;
error_code const refused = errc::server_refused;
error_code const unreachable = errc::unreachable;

verdict const go_on{};
verdict const deliver{kind::deliver, {}, false};
verdict const deliver_and_withdraw{kind::deliver, {}, true};

verdict finish(error_code error, bool withdraw = false) {
    return {kind::finish, error, withdraw};
}

constexpr patience all_patience[] = {patience::unlimited, patience::one_attempt, patience::limited};

// The types whose signal ends an attempt in flight at once.
constexpr cancellation_type abrupt_types[] = {
    cancellation_type::terminal,
    cancellation_type::partial,
    cancellation_type::terminal | cancellation_type::total,
    cancellation_type::partial | cancellation_type::total,
    cancellation_type::all,
};

}  // namespace

BOOST_AUTO_TEST_SUITE(acquire_fsm_test)

BOOST_AUTO_TEST_CASE(a_grant_is_delivered_whatever_the_patience) {
    for (auto const how_long : all_patience) {
        acquire_fsm fsm{how_long};
        fsm.on_attempt_sent();
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
    };
    for (auto const& row : table) {
        BOOST_TEST_CONTEXT(row.answer) {
            acquire_fsm fsm{patience::one_attempt};
            fsm.on_attempt_sent();
            BOOST_TEST(fsm.on_answer(row.answer, row.cause) == row.expected);
            BOOST_TEST(fsm.done());
        }
    }
}

BOOST_AUTO_TEST_CASE(an_attempt_that_was_never_sent_does_not_count_as_the_one) {
    acquire_fsm fsm{patience::one_attempt};
    fsm.on_attempt_sent();
    BOOST_TEST(fsm.on_answer(attempt_answer::not_sent, {}) == go_on);
    BOOST_TEST(!fsm.in_flight());
    fsm.on_attempt_sent();
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
            fsm.on_attempt_sent();
            BOOST_TEST(fsm.on_answer(answer, refused) == go_on);
        }
        fsm.on_attempt_sent();
        BOOST_TEST(
            fsm.on_answer(attempt_answer::failed, errc::corrupt_state) ==
            finish(errc::corrupt_state, true)
        );
    }
}

BOOST_AUTO_TEST_CASE(cancelled_while_nothing_is_in_flight_it_ends_at_once_for_every_type) {
    for (auto const type :
         {cancellation_type::terminal,
          cancellation_type::partial,
          cancellation_type::total,
          cancellation_type::all}) {
        for (auto const how_long : all_patience) {
            acquire_fsm fsm{how_long};
            BOOST_TEST(fsm.on_cancel(type) == finish(aborted));
        }
    }
}

BOOST_AUTO_TEST_CASE(cancelled_between_attempts_it_ends_at_once_and_withdraws_nothing) {
    acquire_fsm fsm{patience::unlimited};
    fsm.on_attempt_sent();
    fsm.on_answer(attempt_answer::busy, {});
    BOOST_TEST(fsm.on_cancel(cancellation_type::total) == finish(aborted));
}

BOOST_AUTO_TEST_CASE(terminal_and_partial_end_an_attempt_in_flight_and_withdraw_it) {
    for (auto const type : abrupt_types) {
        acquire_fsm fsm{patience::unlimited};
        fsm.on_attempt_sent();
        BOOST_TEST(fsm.on_cancel(type) == finish(aborted, true));
        // Its answer, and whatever else comes, is nobody's business any more.
        BOOST_TEST(fsm.on_answer(attempt_answer::granted, {}) == go_on);
        BOOST_TEST(fsm.on_cancel(type) == go_on);
        BOOST_TEST(fsm.on_time_up(true, {}) == go_on);
        BOOST_TEST(fsm.on_ended(errc::client_stopped) == go_on);
    }
}

BOOST_AUTO_TEST_CASE(a_grant_is_delivered_despite_total_cancellation) {
    acquire_fsm fsm{patience::unlimited};
    fsm.on_attempt_sent();
    BOOST_TEST(fsm.on_cancel(cancellation_type::total) == go_on);
    BOOST_TEST(fsm.on_answer(attempt_answer::granted, {}) == deliver);
}

BOOST_AUTO_TEST_CASE(total_cancellation_in_flight_ends_with_any_other_answer) {
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
                fsm.on_attempt_sent();
                BOOST_TEST(fsm.on_cancel(cancellation_type::total) == go_on);
                BOOST_TEST(fsm.on_answer(row.answer, refused) == finish(aborted, row.withdraw));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_second_and_stronger_cancellation_does_not_wait) {
    acquire_fsm fsm{patience::unlimited};
    fsm.on_attempt_sent();
    BOOST_TEST(fsm.on_cancel(cancellation_type::total) == go_on);
    BOOST_TEST(fsm.on_cancel(cancellation_type::terminal) == finish(aborted, true));
}

BOOST_AUTO_TEST_CASE(the_limit_does_not_turn_a_cancellation_into_busy) {
    for (bool const busy : {false, true}) {
        acquire_fsm fsm{patience::limited};
        fsm.on_attempt_sent();
        BOOST_TEST(fsm.on_cancel(cancellation_type::total) == go_on);
        BOOST_TEST(fsm.on_time_up(busy, {}) == finish(aborted, true));
    }
}

BOOST_AUTO_TEST_CASE(no_type_is_no_cancellation) {
    acquire_fsm fsm{patience::unlimited};
    BOOST_TEST(fsm.on_cancel(cancellation_type::none) == go_on);
    fsm.on_attempt_sent();
    BOOST_TEST(fsm.on_cancel(cancellation_type::none) == go_on);
    BOOST_TEST(!fsm.done());
}

BOOST_AUTO_TEST_CASE(a_decided_grant_is_beyond_cancellation) {
    for (auto const type : abrupt_types) {
        acquire_fsm fsm{patience::unlimited};
        fsm.on_attempt_sent();
        BOOST_TEST(fsm.on_answer(attempt_answer::granted, {}) == deliver);
        BOOST_TEST(fsm.on_cancel(type) == go_on);
        BOOST_TEST(fsm.on_time_up(false, {}) == go_on);
        BOOST_TEST(fsm.on_ended(errc::client_stopped) == go_on);
    }
}

BOOST_AUTO_TEST_CASE(an_unanswered_attempt_is_withdrawn_however_it_ends_later) {
    auto const unsure = [] {
        acquire_fsm fsm{patience::limited};
        fsm.on_attempt_sent();
        fsm.on_answer(attempt_answer::unknown, unreachable);
        fsm.on_attempt_sent();
        fsm.on_answer(attempt_answer::busy, {});
        return fsm;
    };
    BOOST_TEST(unsure().on_cancel(cancellation_type::total) == finish(aborted, true));
    BOOST_TEST(unsure().on_time_up(false, {}) == finish({}, true));
    BOOST_TEST(unsure().on_ended(errc::client_stopped) == finish(errc::client_stopped, true));
}

BOOST_AUTO_TEST_CASE(a_grant_of_a_repeated_attempt_withdraws_nothing) {
    acquire_fsm fsm{patience::limited};
    fsm.on_attempt_sent();
    fsm.on_answer(attempt_answer::unknown, unreachable);
    fsm.on_attempt_sent();
    BOOST_TEST(fsm.on_answer(attempt_answer::granted, {}) == deliver);
}

BOOST_AUTO_TEST_CASE(the_limit_is_success_without_a_lease_only_if_the_last_definite_answer_was_busy
) {
    struct {
        std::initializer_list<attempt_answer> answers;
        bool neighbour_was_told_busy;
        error_code expected;
        bool withdraw;
    } const table[] = {
        {{}, false, unreachable, false},
        {{}, true, {}, false},
        {{attempt_answer::busy}, false, {}, false},
        {{attempt_answer::refused}, false, refused, false},
        {{attempt_answer::busy, attempt_answer::refused}, false, refused, false},
        {{attempt_answer::refused, attempt_answer::busy}, false, {}, false},
        // Neither of these two says anything about the lock.
        {{attempt_answer::busy, attempt_answer::unknown}, false, {}, true},
        {{attempt_answer::busy, attempt_answer::not_sent}, false, {}, false},
        {{attempt_answer::unknown}, false, refused, true},
    };
    for (auto const& row : table) {
        acquire_fsm fsm{patience::limited};
        for (auto const answer : row.answers) {
            fsm.on_attempt_sent();
            fsm.on_answer(answer, answer == attempt_answer::busy ? error_code{} : refused);
        }
        BOOST_TEST(
            fsm.on_time_up(row.neighbour_was_told_busy, {}) == finish(row.expected, row.withdraw)
        );
    }
}

BOOST_AUTO_TEST_CASE(the_limit_before_any_answer_reports_why_there_is_no_connection) {
    acquire_fsm fsm{patience::limited};
    BOOST_TEST(fsm.on_time_up(false, errc::auth_failed) == finish(errc::auth_failed));
}

BOOST_AUTO_TEST_CASE(the_limit_withdraws_an_attempt_in_flight) {
    acquire_fsm fsm{patience::limited};
    fsm.on_attempt_sent();
    BOOST_TEST(fsm.on_time_up(false, {}) == finish(unreachable, true));
    BOOST_TEST(fsm.on_answer(attempt_answer::granted, {}) == go_on);
}

BOOST_AUTO_TEST_CASE(whose_owner_has_the_lock_joins_and_withdraws_what_may_still_be_granted) {
    acquire_fsm waiting{patience::unlimited};
    BOOST_TEST(waiting.on_joined() == deliver);
    BOOST_TEST(waiting.on_joined() == go_on);
    BOOST_TEST(waiting.on_cancel(cancellation_type::terminal) == go_on);

    acquire_fsm trying{patience::one_attempt};
    trying.on_attempt_sent();
    BOOST_TEST(trying.on_joined() == deliver_and_withdraw);
    BOOST_TEST(trying.on_answer(attempt_answer::busy, {}) == go_on);

    acquire_fsm unsure{patience::unlimited};
    unsure.on_attempt_sent();
    unsure.on_answer(attempt_answer::unknown, unreachable);
    BOOST_TEST(unsure.on_joined() == deliver_and_withdraw);

    // A grant is delivered to a caller who asked to be let go of after the answer.
    acquire_fsm cancelled{patience::unlimited};
    cancelled.on_attempt_sent();
    cancelled.on_cancel(cancellation_type::total);
    BOOST_TEST(cancelled.on_joined() == deliver_and_withdraw);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_client_ends_it_with_the_cause) {
    acquire_fsm waiting{patience::unlimited};
    BOOST_TEST(waiting.on_ended(errc::client_stopped) == finish(errc::client_stopped));
    acquire_fsm trying{patience::unlimited};
    trying.on_attempt_sent();
    BOOST_TEST(trying.on_ended(errc::no_permission) == finish(errc::no_permission, true));
}

BOOST_AUTO_TEST_SUITE_END()
