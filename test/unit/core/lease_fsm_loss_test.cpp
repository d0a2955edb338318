// When and why a lease is lost, and that nothing revives it.

#include "unit/core/lease_fsm_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <functional>
#include <string>
#include <vector>

using namespace holdfast::test::one_lease;
using holdfast::lease_state;
using holdfast::loss_reason;

namespace {

// Everything that may still happen to a lease that is over.
struct late_event {
    std::string name;
    std::function<void(lease_fsm&, time_point)> happens;
};

std::vector<late_event> const late_events{
    {"a confirmed renewal", [](lease_fsm& fsm, time_point now) { renewed(fsm, now - 1ms, now); }},
    {"a refused renewal",
     [](lease_fsm& fsm, time_point now) { fsm.on_not_ours(loss_reason::taken, now); }},
    {"a failed renewal", [](lease_fsm& fsm, time_point now) { fsm.on_renewal_failed(1s, now); }},
    {"a lost connection", [](lease_fsm& fsm, time_point now) { fsm.on_disconnected(now); }},
    {"a new connection", [](lease_fsm& fsm, time_point now) { fsm.on_connected(1ms, now); }},
    {"the end of the client", [](lease_fsm& fsm, time_point now) { fsm.on_client_stopped(now); }},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(lease_fsm_loss_test)

BOOST_AUTO_TEST_CASE(a_loss_is_not_looked_for_early) {
    lease_fsm fixed{fixed_terms(), sent, granted};
    BOOST_TEST((fixed.next(granted).from == stop));
    auto fsm = fresh();
    BOOST_TEST((fsm.watch(granted).from == stop));
    fsm.on_renewal_sent(sent + 10s);
    BOOST_TEST((fsm.next(sent + 20s).from == stop));
}

BOOST_AUTO_TEST_CASE(a_lease_nobody_confirms_is_lost_one_loss_margin_before_its_deadline) {
    auto fsm = fresh();
    fsm.on_renewal_sent(sent + 10s);
    BOOST_TEST(fsm.look(stop - 1ns) == lease_state::held);
    BOOST_TEST(fsm.look(stop) == lease_state::lost);
    BOOST_TEST(fsm.loss() == loss_reason::unreachable);
    BOOST_TEST(fsm.deadline() == deadline);
    BOOST_TEST(fsm.next(stop) == step{kind::finish});
}

BOOST_AUTO_TEST_CASE(a_holder_that_slept_learns_at_its_first_look_that_the_lease_expired) {
    auto fsm = fresh();
    BOOST_TEST(fsm.next(sent + 60s) == step{kind::finish});
    BOOST_TEST(fsm.loss() == loss_reason::expired);
}

BOOST_AUTO_TEST_CASE(a_fixed_lease_sends_nothing_and_expires) {
    lease_fsm fsm{fixed_terms(), sent, granted};
    BOOST_TEST(fsm.next(granted) == (step{kind::sleep, stop}));
    BOOST_TEST(fsm.next(stop - 1ns) == (step{kind::sleep, stop}));
    BOOST_TEST(fsm.next(stop) == step{kind::finish});
    BOOST_TEST(fsm.loss() == loss_reason::expired);
}

BOOST_AUTO_TEST_CASE(a_fixed_lease_expires_for_the_same_reason_without_a_connection) {
    lease_fsm fsm{fixed_terms(), sent, granted};
    fsm.on_disconnected(sent + 1s);
    BOOST_TEST(fsm.look(sent + 1s) == lease_state::in_doubt);
    BOOST_TEST(fsm.look(stop) == lease_state::lost);
    BOOST_TEST(fsm.loss() == loss_reason::expired);
}

BOOST_AUTO_TEST_CASE(a_fixed_lease_whose_renewal_by_hand_failed_is_lost_as_unreachable) {
    lease_fsm fsm{fixed_terms(), sent, granted};
    fsm.on_renewal_failed(750ms, sent + 20s);
    BOOST_TEST(fsm.look(sent + 20s) == lease_state::in_doubt);
    BOOST_TEST(fsm.look(stop) == lease_state::lost);
    BOOST_TEST(fsm.loss() == loss_reason::unreachable);
}

BOOST_AUTO_TEST_CASE(a_definite_refusal_is_a_loss_in_that_turn) {
    for (auto const reason : {loss_reason::taken, loss_reason::deleted}) {
        auto fsm = fresh();
        fsm.on_renewal_sent(sent + 10s);
        fsm.on_not_ours(reason, sent + 10'001ms);
        BOOST_TEST(fsm.look(sent + 10'001ms) == lease_state::lost);
        BOOST_TEST(fsm.loss() == reason);
        BOOST_TEST(fsm.next(sent + 10'001ms) == step{kind::finish});
        // The lock is free, or another holder's: no time is left.
        BOOST_TEST(fsm.deadline() == sent + 10'001ms);
    }
}

BOOST_AUTO_TEST_CASE(a_loss_never_moves_the_deadline_forward) {
    auto fsm = fresh();
    BOOST_TEST(fsm.look(stop) == lease_state::lost);
    fsm.on_found_lost(loss_reason::taken, deadline + 1s);
    BOOST_TEST(fsm.loss() == loss_reason::expired);
    BOOST_TEST(fsm.deadline() == deadline);
}

BOOST_AUTO_TEST_CASE(a_loss_that_the_release_finds_counts) {
    auto fsm = fresh();
    BOOST_TEST(fsm.on_release(sent + 1s));
    fsm.on_found_lost(loss_reason::deleted, sent + 2s);
    BOOST_TEST(fsm.look(sent + 2s) == lease_state::empty);
    BOOST_TEST(fsm.loss() == loss_reason::deleted);
    BOOST_TEST(fsm.deadline() == sent + 2s);
    // The first reason stands.
    fsm.on_found_lost(loss_reason::taken, sent + 1s);
    BOOST_TEST(fsm.loss() == loss_reason::deleted);
    BOOST_TEST(fsm.deadline() == sent + 2s);
}

BOOST_AUTO_TEST_CASE(a_watcher_sleeps_until_the_end_and_never_renews) {
    auto fsm = fresh();
    BOOST_TEST(fsm.watch(sent + 10s) == (step{kind::sleep, stop}));
    BOOST_TEST(fsm.watch(stop) == step{kind::finish});
    BOOST_TEST(fsm.loss() == loss_reason::expired);
}

BOOST_AUTO_TEST_CASE(a_loss_is_final_whatever_comes_later) {
    for (auto const& event : late_events) {
        BOOST_TEST_CONTEXT(event.name) {
            auto fsm = fresh();
            fsm.on_renewal_sent(sent + 10s);
            fsm.on_not_ours(loss_reason::deleted, sent + 11s);
            event.happens(fsm, sent + 12s);
            BOOST_TEST(fsm.look(sent + 12s) == lease_state::lost);
            BOOST_TEST(fsm.loss() == loss_reason::deleted);
            BOOST_TEST(fsm.deadline() == sent + 11s);
            BOOST_TEST(fsm.next(sent + 12s) == step{kind::finish});
        }
    }
}

BOOST_AUTO_TEST_CASE(what_comes_after_the_deadline_cannot_hide_it_even_if_nobody_looked_before) {
    for (auto const& event : late_events) {
        BOOST_TEST_CONTEXT(event.name) {
            auto fsm = fresh();
            fsm.on_renewal_sent(sent + 10s);
            event.happens(fsm, stop);
            BOOST_TEST(fsm.look(stop) == lease_state::lost);
            BOOST_TEST(fsm.loss() == loss_reason::unreachable);
        }
    }
}

BOOST_AUTO_TEST_CASE(nothing_is_renewed_after_a_release_whatever_comes_later) {
    for (auto const& event : late_events) {
        BOOST_TEST_CONTEXT(event.name) {
            auto fsm = fresh();
            fsm.on_renewal_sent(sent + 10s);
            BOOST_TEST(fsm.on_release(sent + 11s));
            event.happens(fsm, sent + 12s);
            BOOST_TEST(fsm.look(sent + 12s) == lease_state::empty);
            BOOST_TEST(fsm.next(sent + 12s) == step{kind::finish});
            BOOST_TEST(fsm.next(sent + 120s) == step{kind::finish});
            BOOST_TEST(fsm.loss() == loss_reason::none);
            BOOST_TEST(fsm.deadline() == deadline);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_lost_lease_can_be_released) {
    auto fsm = fresh();
    BOOST_TEST(fsm.look(stop) == lease_state::lost);
    BOOST_TEST(fsm.on_release(stop));
    BOOST_TEST(fsm.look(stop) == lease_state::empty);
    BOOST_TEST(!fsm.on_release(stop));
}

BOOST_AUTO_TEST_CASE(max_hold_counts_from_the_grant_and_ends_a_lease_that_is_renewed) {
    lease_fsm fsm{bounded_terms(60s), sent, granted};
    auto now = sent;
    while (now + 10s < granted + 60s) {
        now += 10s;
        BOOST_TEST(fsm.next(now) == step{kind::renew});
        fsm.on_renewal_sent(now);
        renewed(fsm, now, now);
    }
    BOOST_TEST(fsm.next(now) == (step{kind::sleep, granted + 60s}));
    BOOST_TEST(fsm.look(granted + 60s - 1ns) == lease_state::held);
    BOOST_TEST(fsm.look(granted + 60s) == lease_state::lost);
    BOOST_TEST(fsm.loss() == loss_reason::max_hold);
}

BOOST_AUTO_TEST_CASE(the_reason_is_what_ended_the_lease_first_not_what_had_passed_at_the_look) {
    lease_fsm fsm{bounded_terms(60s), sent, granted};
    BOOST_TEST(fsm.look(sent + 90s) == lease_state::lost);
    BOOST_TEST(fsm.loss() == loss_reason::expired);
}

BOOST_AUTO_TEST_CASE(the_longest_max_hold_does_not_overflow) {
    auto longest = terms();
    longest.max_hold = std::chrono::nanoseconds::max();
    lease_fsm fsm{longest, sent, granted};
    BOOST_TEST(fsm.look(granted) == lease_state::held);
    BOOST_TEST(fsm.next(granted) == (step{kind::sleep, sent + 10s}));
}

BOOST_AUTO_TEST_SUITE_END()
