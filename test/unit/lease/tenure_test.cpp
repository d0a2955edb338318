// What a local holder has: its renewals, and what they come to when it ends meanwhile.

#include "lease/tenure.hpp"

#include "unit/lease/granted_lease.hpp"
#include "unit/printers.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <utility>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::lease_state;
using holdfast::loss_reason;
using holdfast::test::grant;
using holdfast::test::outcome;
using holdfast::test::replied;
using holdfast::test::scripted_client;
using holdfast::test::take_away;
using holdfast::test::unanswered;

BOOST_AUTO_TEST_SUITE(tenure_test)

// While a renewal is under way, the keep-alive sleeps until the end of the lease.
BOOST_AUTO_TEST_CASE(a_renewal_that_failed_is_sent_again_soon) {
    scripted_client all;
    auto const one = grant(all, {.sent_ago = 2h, .request_timeout = 40ms});
    all.answer(unanswered());
    BOOST_TEST(one.state() == lease_state::in_doubt);
    BOOST_TEST(all.eventually([&] { return all.sent() == "renew"; }));
    all.answer(replied(1));
    BOOST_TEST(one.state() == lease_state::held);
}

BOOST_AUTO_TEST_CASE(a_renewal_by_hand_tells_its_caller) {
    scripted_client all;
    auto one = grant(all);
    outcome told;
    one.renew(told.plain());
    all.run();
    BOOST_TEST(all.sent() == "renew");
    all.answer(unanswered());
    BOOST_TEST((told.error == errc::unreachable));

    outcome lost;
    one.renew(lost.plain());
    all.run();
    take_away(all);
    BOOST_TEST((lost.error == errc::lease_lost));
    outcome late;
    one.renew(late.plain());
    all.run();
    BOOST_TEST((late.error == errc::lease_lost));
    BOOST_TEST(all.sent().empty());
}

BOOST_AUTO_TEST_CASE(a_renewal_whose_lease_was_released_meanwhile_is_of_nothing) {
    scripted_client all;
    auto one = grant(all);
    outcome told;
    one.renew(told.plain());
    all.run();
    one.release(asio::detached);
    all.answer(replied(1));
    BOOST_TEST((told.error == errc::not_held));
}

BOOST_AUTO_TEST_CASE(a_lease_of_a_closed_client_is_lost_before_anything_has_run) {
    scripted_client all;
    auto const one = grant(all);
    all.state->abandon();
    BOOST_TEST(one.state() == lease_state::lost);
    BOOST_TEST(one.loss() == loss_reason::client_stopped);
    BOOST_TEST((one.remaining() == 0ns));
}

BOOST_AUTO_TEST_SUITE_END()
