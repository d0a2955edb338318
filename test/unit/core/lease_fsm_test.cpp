// The life of one grant: when it is renewed, when it is in doubt, when and why it is lost, and that
// nothing revives it.

#include "core/lease_fsm.hpp"

#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

#include <functional>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using holdfast::lease_state;
using holdfast::loss_reason;
using holdfast::detail::lease_fsm;
using holdfast::detail::lease_terms;
using holdfast::detail::time_point;
using step = lease_fsm::step;
using kind = lease_fsm::step_kind;

namespace {

constexpr time_point sent{1'000s};
constexpr time_point granted = sent + 10ms;
constexpr time_point deadline = sent + 29'700ms;
constexpr time_point stop = deadline - 3s;

lease_terms terms() {
    return {
        .lease = 30s,
        .drift = 300ms,
        .loss_margin = 3s,
        .renew_after = 10s,
        .request_timeout = 3s
    };
}

// By its keep-alive, on the same terms.
bool renewed(
    lease_fsm& fsm,
    time_point sent_at,
    time_point now,
    time_point until = time_point::max()
) {
    return fsm.on_renewed({fsm.terms(), sent_at, until}, now);
}

lease_terms fixed_terms() {
    auto fixed = terms();
    fixed.renew = false;
    return fixed;
}

lease_terms bounded_terms(std::chrono::seconds max_hold) {
    auto bounded = terms();
    bounded.max_hold = max_hold;
    return bounded;
}

lease_fsm fresh() {
    return {terms(), sent, granted};
}

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

BOOST_AUTO_TEST_CASE(a_loss_is_not_looked_for_early) {
    lease_fsm fixed{fixed_terms(), sent, granted};
    BOOST_TEST((fixed.next(granted).from == stop));
    auto fsm = fresh();
    BOOST_TEST((fsm.watch(granted).from == stop));
    fsm.on_renewal_sent(sent + 10s);
    BOOST_TEST((fsm.next(sent + 20s).from == stop));
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

BOOST_AUTO_TEST_CASE(links_that_flap_cost_no_lease) {
    auto fsm = fresh();
    for (auto now = sent + 1s; now < stop; now += 1s) {
        fsm.on_disconnected(now);
        BOOST_TEST(fsm.look(now) == lease_state::in_doubt);
        fsm.on_connected(0ms, now + 100ms);
        BOOST_TEST(fsm.next(now + 100ms) == step{kind::renew});
        fsm.on_renewal_sent(now + 100ms);
        renewed(fsm, now + 100ms, now + 101ms);
        BOOST_TEST(fsm.look(now + 101ms) == lease_state::held);
    }
}

BOOST_AUTO_TEST_CASE(a_new_connection_renews_only_leases_in_doubt) {
    auto fsm = fresh();
    fsm.on_connected(0ms, sent + 1s);
    BOOST_TEST(fsm.next(sent + 1s) == (step{kind::sleep, sent + 10s}));
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

BOOST_AUTO_TEST_CASE(a_fixed_lease_may_be_renewed_by_hand) {
    lease_fsm fsm{fixed_terms(), sent, granted};
    renewed(fsm, sent + 20s, sent + 20'010ms);
    BOOST_TEST(fsm.deadline() == deadline + 20s);
    BOOST_TEST(fsm.next(sent + 21s) == (step{kind::sleep, stop + 20s}));
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

BOOST_AUTO_TEST_CASE(a_stopped_client_costs_the_lease) {
    auto fsm = fresh();
    fsm.on_client_stopped(sent + 1s);
    BOOST_TEST(fsm.look(sent + 1s) == lease_state::lost);
    BOOST_TEST(fsm.loss() == loss_reason::client_stopped);
    BOOST_TEST(fsm.deadline() == sent + 1s);
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

BOOST_AUTO_TEST_CASE(without_a_connection_nothing_is_renewed) {
    auto fsm = fresh();
    fsm.on_disconnected(sent + 1s);
    BOOST_TEST(fsm.next(sent + 1s) == (step{kind::sleep, stop}));
    BOOST_TEST(fsm.next(sent + 10s) == (step{kind::sleep, stop}));
    fsm.on_connected(0ms, sent + 20s);
    BOOST_TEST(fsm.next(sent + 20s) == step{kind::renew});
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

BOOST_AUTO_TEST_CASE(a_lease_is_released_once) {
    auto fsm = fresh();
    BOOST_TEST(fsm.on_release(sent + 1s));
    BOOST_TEST(!fsm.on_release(sent + 2s));
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
