// What the oracle excuses, and that it excuses no more.

#include "simulation/oracle.hpp"

#include "simulation/world.hpp"

#include <boost/test/unit_test.hpp>

using namespace holdfast::sim;

BOOST_AUTO_TEST_SUITE(oracle_test)

BOOST_AUTO_TEST_CASE(a_lease_is_never_longer_than_asked_less_the_drift) {
    oracle::lease_kind const kind{.lease = 30s, .drift = 0.01};
    BOOST_TEST((kind.usable() == 29'700ms));
}

BOOST_AUTO_TEST_CASE(a_lease_that_is_not_renewed_lacks_one_request_at_most) {
    oracle::lease_kind const kind{.lease = 30s, .drift = 0.01, .request_timeout = 3s};
    BOOST_TEST((kind.shortest_beginning() == 26'675ms));
    oracle::lease_kind const wide{.lease = 30s, .drift = 0.05, .request_timeout = 100ms};
    BOOST_TEST((wide.shortest_beginning() == 28'375ms));
}

BOOST_AUTO_TEST_CASE(a_network_is_as_slow_as_its_answers) {
    world in{1, false};
    process of{in, 1, 1.0};
    in.run_until(1s);
    auto const first = of.on_request();
    in.run_until(1'300ms);
    BOOST_TEST((of.unanswered_since() == 1s));
    // A request that follows an answer at once goes on with it.
    of.on_answered(first);
    auto const second = of.on_request();
    BOOST_TEST((of.unanswered_since() == 1s));
    in.run_until(1'301ms);
    of.on_answered(second);
    in.run_until(1'400ms);
    BOOST_TEST((of.unanswered_since() == 1'400ms));
}

BOOST_AUTO_TEST_CASE(an_answer_that_is_late_explains_a_loss_until_one_comes_in_time) {
    world in{1, false};
    process of{in, 1, 1.0};
    in.run_until(1s);
    auto const in_time = of.on_request();
    in.run_until(1'099ms);
    of.on_answered(in_time);
    BOOST_TEST(!of.had_no_answer(0s, 2s, 1'099ms));
    auto const late = of.on_request();
    in.run_until(1'199ms);
    of.on_answered(late);
    in.run_until(1'500ms);
    auto const next = of.on_request();
    in.run_until(1'510ms);
    of.on_answered(next);
    BOOST_TEST(of.had_no_answer(1'099ms, 1'099ms, 1'510ms));
    BOOST_TEST(!of.had_no_answer(1'099ms, 1'099ms, 1'511ms));
    // A renewal that was sent too late is none.
    BOOST_TEST(!of.had_no_answer(1'000ms, 1'098ms, 1'400ms));
    BOOST_TEST(!of.had_no_answer(1'100ms, 1'400ms, 1'400ms));
}

BOOST_AUTO_TEST_CASE(a_connection_that_ends_after_a_short_silence_explains_nothing) {
    world in{1, false};
    process of{in, 1, 1.0};
    in.run_until(10s);
    auto const request = of.on_request();
    in.run_until(10'099ms);
    of.on_connection_lost();
    BOOST_TEST((of.given_up_at() < 0s));
    in.run_until(10'100ms);
    of.on_connection_lost();
    BOOST_TEST((of.given_up_at() == 10'100ms));
    of.on_answered(request);
}

BOOST_AUTO_TEST_CASE(what_is_healed_refuses_no_script_later) {
    world in{1, false};
    server on{in, 1.0};
    server::refuse_scripts(on.primary(), 2, "BUSY a script runs");
    BOOST_TEST(on.primary().refusals.size() == 2U);
    on.disarm();
    BOOST_TEST(on.primary().refusals.empty());
}

BOOST_AUTO_TEST_SUITE_END()
