// What a local holder has: its leases, who is told of their loss and how, and their release.

#include "lease/tenure.hpp"

#include "unit/lease/granted_lease.hpp"
#include "unit/printers.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <optional>
#include <utility>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::error_code;
using holdfast::fencing_token;
using holdfast::lease_clock;
using holdfast::lease_state;
using holdfast::log_level;
using holdfast::loss_reason;
using holdfast::owner;
using holdfast::test::due;
using holdfast::test::enter_again;
using holdfast::test::freed;
using holdfast::test::grant;
using holdfast::test::outcome;
using holdfast::test::replied;
using holdfast::test::scripted_client;
using holdfast::test::take_away;
using holdfast::test::unanswered;

BOOST_AUTO_TEST_SUITE(tenure_test)

BOOST_AUTO_TEST_CASE(a_granted_lease_is_held_until_it_is_released) {
    scripted_client all;
    auto const now = lease_clock::now();
    auto one = grant(all);
    BOOST_TEST(one.state() == lease_state::held);
    BOOST_TEST((one.token() == fencing_token{7}));
    BOOST_TEST((one.deadline() >= now + 24h - 1min));
    BOOST_TEST((one.deadline() < now + 25h));
    outcome told;
    one.release(told.plain());
    BOOST_TEST(one.state() == lease_state::empty);
    all.run();
    BOOST_TEST(!told.error.has_value());
    BOOST_TEST(all.sent() == "release");
    all.answer(freed());
    BOOST_TEST((told.error == error_code{}));
    BOOST_TEST((one.token() == fencing_token{7}));

    outcome again;
    one.release(again.plain());
    BOOST_TEST(!again.error.has_value());
    all.run();
    BOOST_TEST((again.error == errc::not_held));
    BOOST_TEST(all.sent().empty());
}

BOOST_AUTO_TEST_CASE(a_dropped_lease_is_released) {
    scripted_client all;
    static_cast<void>(grant(all));
    all.run();
    BOOST_TEST(all.sent() == "release");
}

BOOST_AUTO_TEST_CASE(a_cancelled_release_goes_on) {
    scripted_client all;
    auto one = grant(all);
    outcome told;
    asio::cancellation_signal signal;
    one.release(asio::bind_cancellation_slot(signal.slot(), told.plain()));
    all.run();
    signal.emit(asio::cancellation_type::terminal);
    all.run();
    BOOST_TEST((told.error == asio::error::operation_aborted));
    all.answer(freed());
    BOOST_TEST(all.count().releases == 1U);
}

BOOST_AUTO_TEST_CASE(a_lease_whose_renewal_is_due_is_renewed) {
    scripted_client all;
    auto const one = grant(all, due);
    BOOST_TEST(all.sent() == "renew");
    all.answer(replied(1));
    BOOST_TEST(one.state() == lease_state::held);
    BOOST_TEST(all.count().renewals == 1U);
    BOOST_TEST(all.sent().empty());
}

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

BOOST_AUTO_TEST_CASE(a_loss_that_the_release_finds_is_a_loss) {
    scripted_client all;
    auto one = grant(all);
    outcome watch;
    outcome told;
    one.wait_lost(watch.loss());
    one.release(told.plain());
    all.run();
    all.answer(replied(0, 0));
    BOOST_TEST((told.error == errc::lease_lost));
    BOOST_TEST((watch.error == error_code{}));
    BOOST_TEST(watch.reason == loss_reason::deleted);
    BOOST_TEST(one.loss() == loss_reason::deleted);
    BOOST_TEST(one.state() == lease_state::empty);
    BOOST_TEST(all.count().losses.deleted == 1U);
    BOOST_TEST(all.log.count(log_level::warning, "is lost") == 1U);
}

BOOST_AUTO_TEST_CASE(the_release_of_a_lost_lease_frees_the_key_and_says_that_it_was_lost) {
    scripted_client all;
    auto one = grant(all, due);
    take_away(all);
    outcome told;
    one.release(told.plain());
    all.run();
    BOOST_TEST(all.sent() == "release");
    all.answer(freed());
    BOOST_TEST((told.error == errc::lease_lost));
    BOOST_TEST(one.loss() == loss_reason::taken);
    BOOST_TEST(all.count().losses.taken == 1U);
}

BOOST_AUTO_TEST_CASE(a_lease_of_a_closed_client_is_lost_before_anything_has_run) {
    scripted_client all;
    auto const one = grant(all);
    all.state->abandon();
    BOOST_TEST(one.state() == lease_state::lost);
    BOOST_TEST(one.loss() == loss_reason::client_stopped);
    BOOST_TEST((one.remaining() == 0ns));
}

BOOST_AUTO_TEST_CASE(the_lock_is_given_up_with_the_last_lease_of_its_owner) {
    scripted_client all;
    auto const who = std::optional{owner::make()};
    auto first = grant(all, {.who = who});
    auto second = enter_again(all, who, all.context.get_executor());
    BOOST_TEST(second.state() == lease_state::held);
    BOOST_TEST((second.token() == first.token()));
    outcome told;
    outcome watch;
    first.wait_lost(watch.loss());
    first.release(told.plain());
    all.run();
    BOOST_TEST((told.error == error_code{}));
    BOOST_TEST((watch.error == errc::not_held));
    BOOST_TEST(all.sent().empty());
    BOOST_TEST(first.state() == lease_state::empty);
    BOOST_TEST(second.state() == lease_state::held);
    second.release(asio::detached);
    all.run();
    BOOST_TEST(all.sent() == "release");
}

BOOST_AUTO_TEST_CASE(a_lost_tenure_cannot_be_joined) {
    scripted_client all;
    auto const who = std::optional{owner::make()};
    auto const first = grant(all, {.sent_ago = 2h, .who = who});
    take_away(all);
    auto const second = enter_again(all, who, all.context.get_executor());
    BOOST_TEST(second.state() == lease_state::empty);
}

BOOST_AUTO_TEST_CASE(each_holder_is_told_on_its_own_executor) {
    scripted_client all;
    asio::io_context mine;
    auto one = grant(all, {.holder = mine.get_executor()});
    outcome told;
    one.wait_lost(told.loss());
    one.renew(asio::detached);
    all.run();
    take_away(all);
    BOOST_TEST(!told.error.has_value());
    mine.poll();
    BOOST_TEST(told.reason == loss_reason::taken);
}

BOOST_AUTO_TEST_SUITE_END()
