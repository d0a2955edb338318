// Whether a client may pass a lock on to its next waiter without asking the server.

#include "core/hold_fsm.hpp"

#include "unit/printers.hpp"

#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
using holdfast::fencing_token;
using holdfast::detail::hold_fsm;
using holdfast::detail::lease_terms;
using holdfast::detail::time_point;

namespace {

constexpr time_point t0{1'000s};
using step = hold_fsm::step;

lease_terms const usual{.lease = 30s, .drift = 302ms};

// Granted now, with so many tokens for others.
hold_fsm fresh(std::uint32_t tokens = 10) {
    return {{t0, t0 + 29s}, {{101}, tokens}, t0};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hold_fsm_test)

BOOST_AUTO_TEST_CASE(tokens_are_given_out_in_order_and_once) {
    auto fsm = fresh(2);
    BOOST_TEST((fsm.next(usual, false, t0) == step::hand_over));
    BOOST_TEST((fsm.take_token() == fencing_token{101}));
    BOOST_TEST((fsm.next(usual, false, t0) == step::hand_over));
    BOOST_TEST((fsm.take_token() == fencing_token{102}));
    BOOST_TEST((fsm.next(usual, false, t0) == step::refill));
    fsm.on_refilled({{201}, 2}, 0, 0);
    BOOST_TEST((fsm.take_token() == fencing_token{201}));
}

BOOST_AUTO_TEST_CASE(a_new_block_takes_the_place_of_the_old_one) {
    auto fsm = fresh(10);
    fsm.on_refilled({{500}, 3}, 0, 0);
    BOOST_TEST((fsm.take_token() == fencing_token{500}));
}

BOOST_AUTO_TEST_CASE(half_of_the_confirmed_time_has_to_be_left) {
    auto fsm = fresh();
    BOOST_TEST((fsm.next(usual, false, t0 + 14500ms) == step::refill)
    );  // half of the lease is more
    lease_terms const short_one{.lease = 5s, .drift = 52ms};
    BOOST_TEST((fsm.next(short_one, false, t0 + 14s) == step::hand_over));
    BOOST_TEST((fsm.next(short_one, false, t0 + 15s) == step::refill));
    fsm.on_confirmed({t0 + 15s, t0 + 44s});
    BOOST_TEST((fsm.next(usual, false, t0 + 15s) == step::hand_over));
}

// Otherwise its holder would find much less than it asked for.
BOOST_AUTO_TEST_CASE(a_lease_whose_renewals_are_limited_wants_all_of_its_time) {
    auto once = usual;
    once.renew = false;
    auto limited = usual;
    limited.max_renewals = 1;
    for (auto const& terms : {once, limited}) {
        hold_fsm const fsm{{t0, t0 + 29'698ms}, {{101}, 10}, t0};
        BOOST_TEST((fsm.next(terms, false, t0 + 20ms) == step::hand_over));
        BOOST_TEST((fsm.next(terms, false, t0 + 21ms) == step::refill));
        // The server has just renewed it for this waiter.
        BOOST_TEST((fsm.next(terms, true, t0 + 1s) == step::hand_over));
        BOOST_TEST(fsm.has_time_for(terms, t0 + 20ms));
        BOOST_TEST(!fsm.has_time_for(terms, t0 + 21ms));
    }
}

BOOST_AUTO_TEST_CASE(what_was_asked_for_a_waiter_and_did_not_help_ends_in_a_release) {
    auto fsm = fresh(0);
    BOOST_TEST((fsm.next(usual, true, t0) == step::release));
    fsm = fresh();
    fsm.on_doubt(t0 + 1s);
    BOOST_TEST((fsm.next(usual, true, t0 + 1s) == step::release));
}

BOOST_AUTO_TEST_CASE(after_a_doubt_only_a_later_request_helps) {
    auto fsm = fresh();
    fsm.on_doubt(t0 + 1s);
    BOOST_TEST(fsm.doubtful());
    BOOST_TEST((fsm.next(usual, false, t0 + 1s) == step::refill));
    fsm.on_confirmed({t0 + 900ms, t0 + 29s});
    BOOST_TEST(fsm.doubtful());
    fsm.on_verified(t0 + 1100ms);
    BOOST_TEST(!fsm.doubtful());
    BOOST_TEST((fsm.next(usual, false, t0 + 1200ms) == step::hand_over));
}

// The request that failed was sent before the connection was lost.
BOOST_AUTO_TEST_CASE(an_older_doubt_takes_nothing_from_a_newer_one) {
    auto fsm = fresh();
    fsm.on_verified(t0 + 1s);
    fsm.on_doubt(t0 + 2s);
    fsm.on_doubt(t0 + 900ms);
    BOOST_TEST(fsm.doubtful());
    fsm.on_verified(t0 + 2100ms);
    fsm.on_doubt(t0 + 2s);
    BOOST_TEST(!fsm.doubtful());
}

BOOST_AUTO_TEST_CASE(to_know_that_it_is_ours_makes_it_no_longer) {
    auto fsm = fresh();
    fsm.on_verified(t0 + 15s);
    BOOST_TEST((fsm.confirmed().until == t0 + 29s));
    BOOST_TEST((fsm.next(usual, false, t0 + 15s) == step::refill));
}

BOOST_AUTO_TEST_CASE(one_that_is_lost_or_over_goes_to_nobody) {
    auto fsm = fresh();
    BOOST_TEST((fsm.next(usual, false, t0 + 29s) == step::release));
    fsm.on_lost();
    BOOST_TEST((fsm.next(usual, false, t0) == step::release));
}

// Its id may have the lock once more, after others.
BOOST_AUTO_TEST_CASE(one_that_is_lost_stays_so) {
    auto fsm = fresh();
    BOOST_TEST(!fsm.lost());
    fsm.on_lost();
    fsm.on_confirmed({t0 + 1s, t0 + 30s});
    BOOST_TEST(fsm.lost());
    BOOST_TEST((fsm.next(usual, false, t0 + 1s) == step::release));
}

BOOST_AUTO_TEST_CASE(a_run_ends_after_64_grants_if_others_wait) {
    auto fsm = fresh(64);
    fsm.on_others_wait();
    int grants = 1;
    while (fsm.next(usual, false, t0) == step::hand_over) {
        static_cast<void>(fsm.take_token());
        ++grants;
    }
    BOOST_TEST(grants == 64);
    BOOST_TEST((fsm.next(usual, false, t0) == step::release));
    // It is known that they have gone.
    fsm.on_refilled({{300}, 64}, 0, 0);
    BOOST_TEST((fsm.next(usual, false, t0) == step::hand_over));
}

BOOST_AUTO_TEST_CASE(a_run_ends_after_10_ms_if_others_wait) {
    auto fsm = fresh();
    BOOST_TEST((fsm.next(usual, false, t0 + 10ms) == step::hand_over));
    fsm.on_refilled({{300}, 64}, 1, 0);
    BOOST_TEST((fsm.next(usual, false, t0 + 9ms) == step::hand_over));
    BOOST_TEST((fsm.next(usual, false, t0 + 10ms) == step::release));
    fsm.on_refilled({{400}, 64}, 0, 1);  // those that do not queue count as well
    BOOST_TEST((fsm.next(usual, false, t0 + 10ms) == step::release));
}

BOOST_AUTO_TEST_CASE(the_server_is_asked_ahead_of_time) {
    auto fsm = fresh(4);
    BOOST_TEST(!fsm.wants_refill(0, t0 + 1s));
    BOOST_TEST(!fsm.wants_refill(3, t0));
    static_cast<void>(fsm.take_token());
    BOOST_TEST(!fsm.wants_refill(3, t0));
    static_cast<void>(fsm.take_token());
    BOOST_TEST(fsm.wants_refill(3, t0));  // half of the block is used
    fsm.on_refill_sent(t0);
    BOOST_TEST(!fsm.wants_refill(3, t0));
    fsm.on_refill_failed();
    BOOST_TEST(fsm.wants_refill(3, t0));
    fsm.on_refilled({{300}, 64}, 0, 0);
    BOOST_TEST(!fsm.wants_refill(3, t0 + 9ms));
    BOOST_TEST(fsm.wants_refill(3, t0 + 10ms));  // whether others wait was said long ago
}

BOOST_AUTO_TEST_CASE(what_may_not_have_been_heard_is_asked_with_a_later_request) {
    auto fsm = fresh(4);
    fsm.on_refill_sent(t0);
    fsm.on_unheard();
    BOOST_TEST(!fsm.wants_refill(3, t0));
    fsm.on_refilled({{300}, 64}, 0, 0);
    BOOST_TEST(fsm.unheard());
    BOOST_TEST(!fsm.wants_refill(0, t0));
    BOOST_TEST(fsm.wants_refill(3, t0));
    // It may be passed on meanwhile.
    BOOST_TEST((fsm.next(usual, false, t0) == step::hand_over));
    fsm.on_refill_sent(t0);
    fsm.on_refilled({{300}, 64}, 0, 0);
    BOOST_TEST(!fsm.wants_refill(3, t0));
}

BOOST_AUTO_TEST_CASE(a_block_is_for_those_who_wait_and_one_more) {
    BOOST_TEST(hold_fsm::tokens_for(0) == 1U);
    BOOST_TEST(hold_fsm::tokens_for(5) == 6U);
    BOOST_TEST(hold_fsm::tokens_for(10'000) == 512U);
}

BOOST_AUTO_TEST_SUITE_END()
