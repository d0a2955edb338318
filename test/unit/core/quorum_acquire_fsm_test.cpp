// How an acquisition of a quorum goes on after a round, and how it ends.

#include "core/quorum_acquire_fsm.hpp"

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::error_code;
using holdfast::detail::cancel_request;
using holdfast::detail::patience;
using holdfast::detail::quorum_acquire_fsm;
using holdfast::detail::quorum_tally;
using holdfast::detail::time_point;
using action = quorum_acquire_fsm::action;
using step = quorum_acquire_fsm::step;
using verdict = quorum_tally::verdict;

namespace {

time_point const now{1h};

struct acquiring : quorum_acquire_fsm {
    explicit acquiring(patience how_long = patience::unlimited) : quorum_acquire_fsm{how_long} {
        on_round();
    }
    action judge(verdict what, error_code cause = {}) {
        return on_verdict(what, cause, true, now, now);
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(quorum_acquire_fsm_test)

BOOST_AUTO_TEST_CASE(a_grant_is_delivered_once) {
    acquiring one;
    BOOST_TEST((one.judge(verdict::open) == action{}));
    BOOST_TEST((one.judge(verdict::write_back) == action{}));
    BOOST_TEST(one.in_round());
    BOOST_TEST((one.judge(verdict::granted) == action{step::deliver}));
    BOOST_TEST(one.done());
    BOOST_TEST((one.judge(verdict::granted) == action{}));
    BOOST_TEST((one.on_cancel(cancel_request::at_once) == action{}));
    BOOST_TEST((one.on_time_up(true, true) == action{}));
    BOOST_TEST((one.on_ended(errc::client_stopped) == action{}));
}

BOOST_AUTO_TEST_CASE(who_waits_tries_again_and_who_asks_once_is_told) {
    acquiring waits;
    BOOST_TEST((waits.judge(verdict::busy) == action{step::retry}));
    BOOST_TEST(!waits.in_round());
    waits.on_round();
    BOOST_TEST((waits.judge(verdict::not_reached) == action{step::retry}));

    acquiring once{patience::one_attempt};
    BOOST_TEST((once.judge(verdict::busy) == action{step::finish, {}}));
    acquiring alone{patience::one_attempt};
    BOOST_TEST((alone.judge(verdict::not_reached) == action{step::finish, errc::quorum_not_reached})
    );
}

BOOST_AUTO_TEST_CASE(a_round_with_a_cause_of_its_own_ends_with_that) {
    error_code const crowded = errc::too_many_waiters;
    acquiring once{patience::one_attempt};
    BOOST_TEST((once.judge(verdict::not_reached, crowded) == action{step::finish, crowded}));

    acquiring limited{patience::limited};
    BOOST_TEST((limited.judge(verdict::not_reached, crowded) == action{step::retry}));
    BOOST_TEST((limited.on_time_up(false, false) == action{step::finish, crowded}));

    acquiring waits;
    BOOST_TEST((waits.judge(verdict::not_reached, crowded) == action{step::retry}));
}

BOOST_AUTO_TEST_CASE(one_attempt_waits_for_connections_and_not_for_ever) {
    acquiring once{patience::one_attempt};
    BOOST_TEST(
        (once.on_verdict(verdict::not_reached, {}, false, now + 1s, now) == action{step::retry})
    );
    once.on_round();
    BOOST_TEST(
        (once.on_verdict(verdict::not_reached, {}, false, now + 1s, now + 1s) ==
         action{step::finish, errc::quorum_not_reached})
    );
}

BOOST_AUTO_TEST_CASE(a_cause_that_does_not_pass_ends_it) {
    acquiring one;
    BOOST_TEST(
        (one.judge(verdict::failed, errc::auth_failed) == action{step::finish, errc::auth_failed})
    );
}

BOOST_AUTO_TEST_CASE(the_end_of_the_time_tells_what_is_known) {
    acquiring busy{patience::limited};
    BOOST_TEST((busy.on_time_up(true, true) == action{step::finish, {}}));
    acquiring silent{patience::limited};
    BOOST_TEST((silent.on_time_up(false, false) == action{step::finish, errc::quorum_not_reached}));
}

BOOST_AUTO_TEST_CASE(the_end_of_a_round_that_may_come_is_waited_for_once) {
    auto const overdue = [] {
        acquiring one{patience::limited};
        BOOST_TEST((one.on_time_up(false, true) == action{}));
        BOOST_TEST(one.overdue());
        return one;
    };
    action const not_reached{step::finish, errc::quorum_not_reached};
    BOOST_TEST((overdue().on_time_up(false, true) == not_reached));
    BOOST_TEST((overdue().on_time_up(true, true) == action{step::finish, {}}));
    BOOST_TEST((overdue().judge(verdict::granted) == action{step::deliver}));
    BOOST_TEST((overdue().judge(verdict::busy) == action{step::finish, {}}));
    BOOST_TEST((overdue().judge(verdict::not_reached) == not_reached));
    BOOST_TEST((overdue().on_verdict(verdict::not_reached, {}, false, now + 1s, now) == not_reached)
    );
    BOOST_TEST((overdue().on_cancel(cancel_request::at_once) == action{step::abort}));
}

BOOST_AUTO_TEST_CASE(a_cancellation_ends_it_at_once_or_after_the_round) {
    acquiring now_;
    BOOST_TEST((now_.on_cancel(cancel_request::at_once) == action{step::abort}));
    acquiring later;
    BOOST_TEST((later.on_cancel(cancel_request::after_the_reply) == action{}));
    BOOST_TEST((later.judge(verdict::busy) == action{step::abort}));
    acquiring granted;
    granted.on_cancel(cancel_request::after_the_reply);
    BOOST_TEST((granted.judge(verdict::granted) == action{step::deliver}));
    acquiring waiting;
    waiting.judge(verdict::busy);
    BOOST_TEST((waiting.on_cancel(cancel_request::after_the_reply) == action{step::abort}));
    acquiring out_of_time{patience::limited};
    out_of_time.on_cancel(cancel_request::after_the_reply);
    BOOST_TEST((out_of_time.on_time_up(true, true) == action{step::abort}));
}

BOOST_AUTO_TEST_SUITE_END()
