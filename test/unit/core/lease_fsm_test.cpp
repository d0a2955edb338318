// The life of one grant: until when it lasts, and when it is renewed.

#include "unit/core/lease_fsm_fixture.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::test::one_lease;
using holdfast::lease_state;
using holdfast::loss_reason;

BOOST_AUTO_TEST_SUITE(lease_fsm_test)

BOOST_AUTO_TEST_CASE(the_deadline_counts_from_the_send_and_not_from_the_answer) {
    lease_fsm fsm{terms(), sent, sent + 5s};
    BOOST_TEST(fsm.deadline() == deadline);
}

BOOST_AUTO_TEST_CASE(a_fresh_lease_sleeps_until_its_renewal) {
    auto fsm = fresh();
    BOOST_TEST(fsm.look(granted) == lease_state::held);
    BOOST_TEST(fsm.next(granted) == (step{kind::sleep, sent + 10s}));
    BOOST_TEST(fsm.next(sent + 10s) == step{kind::renew});
}

BOOST_AUTO_TEST_CASE(a_renewal_may_be_sent_a_little_early) {
    auto fsm = fresh();
    // A sixteenth.
    auto const from = sent + 10s - 625ms;
    BOOST_TEST((fsm.next(granted).from == from));
    BOOST_TEST(fsm.next(from - 1ns) == (step{kind::sleep, sent + 10s}));
    BOOST_TEST(fsm.next(from) == step{kind::renew});
    fsm.on_renewal_sent(from);
    renewed(fsm, from, from + 1ms);
    BOOST_TEST((fsm.next(from + 1ms).from == from + 10s - 625ms));
}

// Until then it is short: its times are not those of its terms.
BOOST_AUTO_TEST_CASE(a_grant_that_was_not_confirmed_is_renewed_in_time_and_once) {
    lease_fsm fsm{fixed_terms(), {sent + 3s, sent + 500ms, 300ms, sent, false}};
    BOOST_TEST((fsm.next(sent).from == sent + 500ms));
    BOOST_TEST(fsm.next(sent + 499ms) == (step{kind::sleep, sent + 500ms}));
    BOOST_TEST(fsm.next(sent + 500ms) == step{kind::renew});
    fsm.on_renewal_sent(sent + 500ms);
    renewed(fsm, sent + 500ms, sent + 510ms);
    BOOST_TEST(fsm.next(sent + 510ms) == (step{kind::sleep, stop + 500ms}));
}

BOOST_AUTO_TEST_CASE(the_deadline_is_not_later_than_the_end_of_the_lock) {
    auto fsm = fresh();
    fsm.on_renewal_sent(sent + 10s);
    renewed(fsm, sent + 10s, sent + 11s, deadline + 1s);
    BOOST_TEST(fsm.deadline() == deadline + 1s);
}

BOOST_AUTO_TEST_CASE(one_renewal_at_a_time_is_in_flight) {
    auto fsm = fresh();
    BOOST_TEST(fsm.next(sent + 10s) == step{kind::renew});
    fsm.on_renewal_sent(sent + 10s);
    BOOST_TEST(fsm.next(sent + 10s) == (step{kind::sleep, sent + 20s}));
    BOOST_TEST(fsm.next(sent + 20s) == (step{kind::sleep, stop}));
}

BOOST_AUTO_TEST_CASE(a_confirmed_renewal_moves_the_deadline_by_its_send) {
    auto fsm = fresh();
    fsm.on_renewal_sent(sent + 10s);
    BOOST_TEST(!renewed(fsm, sent + 10s, sent + 12s));
    BOOST_TEST(fsm.deadline() == deadline + 10s);
    BOOST_TEST(fsm.look(sent + 12s) == lease_state::held);
    BOOST_TEST(fsm.next(sent + 12s) == (step{kind::sleep, sent + 20s}));
}

BOOST_AUTO_TEST_CASE(an_answer_that_took_long_asks_for_the_next_renewal_at_once) {
    auto fsm = fresh();
    fsm.on_renewal_sent(sent + 10s);
    BOOST_TEST(renewed(fsm, sent + 10s, sent + 21s));
    BOOST_TEST(fsm.next(sent + 21s) == step{kind::renew});
}

BOOST_AUTO_TEST_CASE(an_older_answer_never_moves_the_deadline_back) {
    auto fsm = fresh();
    fsm.on_renewal_sent(sent + 10s);
    renewed(fsm, sent + 11s, sent + 12s);
    renewed(fsm, sent + 10s, sent + 13s);
    BOOST_TEST(fsm.deadline() == deadline + 11s);
}

BOOST_AUTO_TEST_CASE(only_a_confirmed_renewal_moves_the_deadline) {
    auto fsm = fresh();
    fsm.on_renewal_sent(sent + 10s);
    fsm.on_disconnected(sent + 11s);
    fsm.on_renewal_failed(750ms, sent + 12s);
    fsm.on_connected(5ms, sent + 13s);
    fsm.on_renewal_sent(sent + 13s);
    fsm.on_renewal_failed(750ms, sent + 16s);
    BOOST_TEST(fsm.deadline() == deadline);
}

BOOST_AUTO_TEST_CASE(a_fixed_lease_may_be_renewed_by_hand) {
    lease_fsm fsm{fixed_terms(), sent, granted};
    auto const by_holder = lease_fsm::renewed_by::holder;
    fsm.on_renewed({fixed_terms(), sent + 20s, time_point::max(), by_holder}, sent + 20'010ms);
    BOOST_TEST(fsm.deadline() == deadline + 20s);
    BOOST_TEST(fsm.next(sent + 21s) == (step{kind::sleep, stop + 20s}));
}

BOOST_AUTO_TEST_CASE(the_terms_of_a_renewal_hold_from_then_on) {
    auto fsm = fresh();
    auto longer = terms();
    longer.lease = 60s;
    longer.drift = 600ms;
    longer.loss_margin = 6s;
    longer.renew_after = 20s;
    fsm.on_renewal_sent(sent + 10s);
    fsm.on_renewed({longer, sent + 10s}, sent + 11s);
    BOOST_TEST((fsm.deadline() == sent + 10s + 59'400ms));
    BOOST_TEST(fsm.next(sent + 11s).until == sent + 30s);
    BOOST_TEST(fsm.look(sent + 10s + 53'400ms) == lease_state::lost);
}

BOOST_AUTO_TEST_CASE(new_limits_count_from_then_on_also_if_a_renewal_is_on_its_way) {
    auto fsm = fresh();
    fsm.on_renewal_sent(sent + 10s);
    auto limited = bounded_terms(60s);
    limited.renew = false;
    limited.lease = 1s;  // only the limits count
    fsm.on_new_limits(limited, sent + 10s);
    fsm.on_renewed({terms(), sent + 10s}, sent + 11s);
    BOOST_TEST((fsm.deadline() == sent + 10s + 29'700ms));
    BOOST_TEST(fsm.next(sent + 11s) == (step{kind::sleep, sent + 10s + 26'700ms}));

    auto renewed_on = fresh();
    renewed_on.on_new_limits(bounded_terms(20s), sent + 10s);
    BOOST_TEST(renewed_on.look(sent + 25s) == lease_state::held);
    renewed(renewed_on, sent + 20s, sent + 20s);
    BOOST_TEST(renewed_on.look(sent + 30s - 1ns) == lease_state::held);
    BOOST_TEST(renewed_on.look(sent + 30s) == lease_state::lost);
    BOOST_TEST(renewed_on.loss() == loss_reason::max_hold);
    renewed_on.on_new_limits(terms(), sent + 31s);
    BOOST_TEST(renewed_on.look(sent + 31s) == lease_state::lost);
}

BOOST_AUTO_TEST_SUITE_END()
