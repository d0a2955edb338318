// When a lease is in doubt, and when not any more: renewals that fail, connections that come and
// go, another server.

#include "unit/core/lease_fsm_fixture.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::test::one_lease;
using holdfast::lease_state;
using holdfast::loss_reason;

BOOST_AUTO_TEST_SUITE(lease_fsm_doubt_test)

BOOST_AUTO_TEST_CASE(a_renewal_in_doubt_has_a_time_of_its_own) {
    auto failed = fresh();
    failed.on_renewal_sent(sent + 10s);
    failed.on_renewal_failed(750ms, sent + 13s);
    BOOST_TEST((failed.next(sent + 13s).from == sent + 13'750ms));
    BOOST_TEST(failed.next(sent + 13'749ms) == (step{kind::sleep, sent + 13'750ms}));

    // Spread after a lost connection.
    auto cut = fresh();
    cut.on_disconnected(sent + 5s);
    cut.on_connected(500ms, sent + 6s);
    BOOST_TEST((cut.next(sent + 6s).from == sent + 6'500ms));
    BOOST_TEST(cut.next(sent + 6'499ms) == (step{kind::sleep, sent + 6'500ms}));
}

BOOST_AUTO_TEST_CASE(a_failed_renewal_is_doubt_and_is_repeated_soon) {
    auto fsm = fresh();
    fsm.on_renewal_sent(sent + 10s);
    fsm.on_renewal_failed(750ms, sent + 13s);
    BOOST_TEST(fsm.look(sent + 13s) == lease_state::in_doubt);
    BOOST_TEST(fsm.next(sent + 13s) == (step{kind::sleep, sent + 13'750ms}));
    BOOST_TEST(fsm.next(sent + 13'750ms) == step{kind::renew});
}

BOOST_AUTO_TEST_CASE(a_confirmed_renewal_ends_the_doubt) {
    auto fsm = fresh();
    fsm.on_disconnected(sent + 5s);
    BOOST_TEST(fsm.look(sent + 5s) == lease_state::in_doubt);
    fsm.on_connected(5ms, sent + 6s);
    BOOST_TEST(fsm.look(sent + 6s) == lease_state::in_doubt);
    BOOST_TEST(fsm.next(sent + 6s) == (step{kind::sleep, sent + 6'005ms}));
    fsm.on_renewal_sent(sent + 6'005ms);
    renewed(fsm, sent + 6'005ms, sent + 6'006ms);
    BOOST_TEST(fsm.look(sent + 6'006ms) == lease_state::held);
    BOOST_TEST(fsm.deadline() == deadline + 6'005ms);
}

BOOST_AUTO_TEST_CASE(a_connection_that_comes_back_under_a_renewal_does_not_delay_the_next_one) {
    auto fsm = fresh();
    fsm.on_disconnected(sent + 9s);
    // Decided upon, and not sent yet.
    fsm.on_renewal_sent(sent + 10s);
    fsm.on_connected(0ms, sent + 10s);
    BOOST_TEST(fsm.next(sent + 10s) == (step{kind::sleep, stop}));
    // So it has to be woken.
    BOOST_TEST(renewed(fsm, sent + 10s, sent + 10'005ms));
    BOOST_TEST(fsm.next(sent + 10'005ms) == (step{kind::sleep, sent + 20s}));
}

BOOST_AUTO_TEST_CASE(a_new_connection_renews_only_leases_in_doubt) {
    auto fsm = fresh();
    fsm.on_connected(0ms, sent + 1s);
    BOOST_TEST(fsm.next(sent + 1s) == (step{kind::sleep, sent + 10s}));
}

BOOST_AUTO_TEST_CASE(without_a_connection_nothing_is_renewed) {
    auto fsm = fresh();
    fsm.on_disconnected(sent + 1s);
    BOOST_TEST(fsm.next(sent + 1s) == (step{kind::sleep, stop}));
    BOOST_TEST(fsm.next(sent + 10s) == (step{kind::sleep, stop}));
    fsm.on_connected(0ms, sent + 20s);
    BOOST_TEST(fsm.next(sent + 20s) == step{kind::renew});
}

BOOST_AUTO_TEST_CASE(the_doubt_of_a_fixed_lease_ends_with_the_next_connection) {
    lease_fsm fsm{fixed_terms(), sent, granted};
    fsm.on_disconnected(sent + 1s);
    fsm.on_connected(5ms, sent + 2s);
    BOOST_TEST(fsm.look(sent + 2s) == lease_state::held);
    BOOST_TEST(fsm.next(sent + 2s) == (step{kind::sleep, stop}));
}

BOOST_AUTO_TEST_CASE(another_server_is_asked_at_once_whatever_the_state) {
    for (bool const told : {true, false}) {
        lease_fsm fsm{terms(), sent, granted};
        if (told) {
            fsm.on_disconnected(sent + 1s);
        }
        fsm.on_failed_over(sent + 2s);
        BOOST_TEST(fsm.look(sent + 2s) == lease_state::in_doubt);
        BOOST_TEST(fsm.renews());
        BOOST_TEST((fsm.next(sent + 2s).kind == kind::renew));
        // That it is ours by an answer that keeps its end changes nothing: the renewal does.
        fsm.on_verified(sent + 2s);
        BOOST_TEST(fsm.look(sent + 2s) == lease_state::in_doubt);
        fsm.on_renewal_sent(sent + 2s);
        renewed(fsm, sent + 2s, sent + 2s);
        BOOST_TEST(fsm.look(sent + 2s) == lease_state::held);
    }
}

BOOST_AUTO_TEST_CASE(a_fixed_lease_is_in_doubt_on_another_server_until_that_was_asked) {
    lease_fsm fsm{fixed_terms(), sent, granted};
    fsm.on_disconnected(sent + 1s);
    fsm.on_failed_over(sent + 2s);
    BOOST_TEST(!fsm.renews());
    BOOST_TEST(fsm.look(sent + 2s) == lease_state::in_doubt);
    BOOST_TEST((fsm.next(sent + 2s).kind == kind::sleep));
    fsm.on_verified(sent + 3s);
    BOOST_TEST(fsm.look(sent + 3s) == lease_state::held);
    BOOST_TEST((fsm.deadline() == deadline));
    // A lost one stays lost.
    lease_fsm lost{fixed_terms(), sent, granted};
    lost.on_failed_over(deadline);
    lost.on_verified(deadline);
    BOOST_TEST(lost.look(deadline) == lease_state::lost);
}

BOOST_AUTO_TEST_CASE(a_lock_that_the_other_server_has_not_got_ends_at_once) {
    lease_fsm fsm{terms(), sent, granted};
    fsm.on_failed_over(sent + 2s);
    fsm.on_not_ours(loss_reason::failed_over, sent + 3s);
    BOOST_TEST(fsm.look(sent + 3s) == lease_state::lost);
    BOOST_TEST(fsm.loss() == loss_reason::failed_over);
    BOOST_TEST((fsm.deadline() == sent + 3s));
}

BOOST_AUTO_TEST_SUITE_END()
