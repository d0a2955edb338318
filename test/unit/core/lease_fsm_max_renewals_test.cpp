// A lease that its keep-alive may renew only so many times.

#include "unit/core/lease_fsm_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>

using namespace holdfast::test::one_lease;
using holdfast::lease_state;
using holdfast::loss_reason;

namespace {

lease_terms limited_to(std::uint32_t renewals) {
    auto limited = terms();
    limited.max_renewals = renewals;
    return limited;
}

// Each is renewed when it is due, and confirmed. Returns when that was for the last time.
time_point renew_until_it_stops(lease_fsm& fsm, time_point now) {
    while (now < sent + 1h) {
        auto const next = fsm.next(now);
        if (next.kind == kind::renew) {
            fsm.on_renewal_sent(now);
            renewed(fsm, now, now);
        } else if (next.until == fsm.deadline() - 3s) {
            break;
        } else {
            now = next.until;
        }
    }
    return now;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lease_fsm_max_renewals_test)

BOOST_AUTO_TEST_CASE(after_max_renewals_the_lease_ends_by_time) {
    lease_fsm fsm{limited_to(2), sent, granted};
    auto const last = renew_until_it_stops(fsm, granted);
    BOOST_TEST((last == sent + 20s));
    BOOST_TEST((fsm.deadline() == sent + 20s + 29'700ms));
    auto const end = fsm.deadline() - 3s;
    BOOST_TEST(fsm.next(end - 1ns) == (step{kind::sleep, end, end}));
    BOOST_TEST(fsm.look(end) == lease_state::lost);
    BOOST_TEST(fsm.loss() == loss_reason::max_renewals);
    // What is left of it can be used to stop.
    BOOST_TEST((fsm.deadline() == end + 3s));
}

BOOST_AUTO_TEST_CASE(without_renewals_the_first_lease_is_all) {
    lease_fsm fsm{limited_to(0), sent, granted};
    BOOST_TEST(fsm.next(granted) == (step{kind::sleep, stop, stop}));
    BOOST_TEST(fsm.look(stop) == lease_state::lost);
    BOOST_TEST(fsm.loss() == loss_reason::max_renewals);
}

BOOST_AUTO_TEST_CASE(a_renewal_that_fails_does_not_count) {
    lease_fsm fsm{limited_to(1), sent, granted};
    fsm.on_renewal_sent(sent + 10s);
    fsm.on_renewal_failed(1s, sent + 11s);
    BOOST_TEST(fsm.next(sent + 12s) == step{kind::renew});
    fsm.on_renewal_sent(sent + 12s);
    renewed(fsm, sent + 12s, sent + 12s);
    auto const end = sent + 12s + 26'700ms;
    BOOST_TEST(fsm.next(sent + 22s) == (step{kind::sleep, end, end}));
}

BOOST_AUTO_TEST_CASE(the_renewal_that_confirms_a_grant_does_not_count) {
    for (auto const by : {lease_fsm::renewed_by::keep_alive, lease_fsm::renewed_by::client}) {
        auto const limited = limited_to(1);
        lease_fsm fsm{limited, {sent + 3s, sent + 500ms, 300ms, sent, false}};
        fsm.on_renewed({limited, sent + 1ms, time_point::max(), by}, sent + 2ms);
        BOOST_TEST(fsm.next(sent + 10s + 1ms) == step{kind::renew});
    }
}

BOOST_AUTO_TEST_CASE(a_grant_that_was_not_confirmed_is_renewed_though_none_is_allowed) {
    auto const limited = limited_to(0);
    lease_fsm fsm{limited, {sent + 3s, sent + 500ms, 300ms, sent, false}};
    BOOST_TEST(fsm.next(sent + 500ms) == step{kind::renew});
}

BOOST_AUTO_TEST_CASE(a_renewal_that_the_terms_did_not_ask_for_does_not_count_and_gives_no_time) {
    auto limited = limited_to(1);
    lease_fsm fsm{limited, sent, granted};
    auto const deadline = fsm.deadline();
    // The first two come with new connections.
    for (auto const at : {sent + 4s, sent + 8s}) {
        fsm.on_disconnected(at - 1s);
        fsm.on_connected(0s, at);
        BOOST_TEST(fsm.next(at) == step{kind::renew});
        fsm.on_renewal_sent(at);
        // Its keep-alive would sleep beyond the next one.
        BOOST_TEST(renewed(fsm, at, at));
        BOOST_TEST(fsm.look(at) == lease_state::held);
        BOOST_TEST((fsm.deadline() == deadline));
        BOOST_TEST((fsm.next(at).until == sent + 10s));
    }
    BOOST_TEST((renew_until_it_stops(fsm, sent + 8s) == sent + 10s));
    BOOST_TEST((fsm.deadline() == deadline + 10s));
}

BOOST_AUTO_TEST_CASE(what_keeps_the_kind_of_lock_goes_on_when_the_terms_ask_for_no_more) {
    for (auto const renews : {true, false}) {
        auto limited = limited_to(1);
        limited.renew = renews;
        limited.renew_within = limited.renew_after;
        limited.renew_after *= 2;
        lease_fsm fsm{limited, sent, granted};
        auto const deadline = fsm.deadline();
        std::uint32_t sent_renewals = 0;
        for (auto now = granted; holdfast::detail::is_alive(fsm.look(now));) {
            auto const next = fsm.next(now);
            if (next.kind == kind::renew) {
                ++sent_renewals;
                fsm.on_renewal_sent(now);
                renewed(fsm, now, now);
            } else {
                now = next.until;
            }
        }
        BOOST_TEST((fsm.deadline() == deadline + (renews ? 20s : 0s)));
        BOOST_TEST(sent_renewals == (renews ? 4U : 2U));
        BOOST_TEST(fsm.loss() == (renews ? loss_reason::max_renewals : loss_reason::expired));
    }
}

BOOST_AUTO_TEST_CASE(counting_starts_again_when_the_holder_renews) {
    auto const limited = limited_to(1);
    lease_fsm fsm{limited, sent, granted};
    auto const last = renew_until_it_stops(fsm, granted);
    auto const by_holder = lease_fsm::renewal{
        limited,
        last + 1s,
        time_point::max(),
        lease_fsm::renewed_by::holder,
    };
    // The keep-alive sleeps until the end, and has to be woken.
    BOOST_TEST(fsm.on_renewed(by_holder, last + 1s));
    BOOST_TEST(fsm.next(last + 11s) == step{kind::renew});
}

BOOST_AUTO_TEST_CASE(a_break_in_the_connection_is_no_doubt_for_long_if_nothing_is_renewed) {
    lease_fsm fsm{limited_to(0), sent, granted};
    fsm.on_disconnected(sent + 1s);
    BOOST_TEST(fsm.look(sent + 1s) == lease_state::in_doubt);
    fsm.on_connected(0s, sent + 2s);
    BOOST_TEST(fsm.look(sent + 2s) == lease_state::held);
}

BOOST_AUTO_TEST_SUITE_END()
