// Waiting for the loss of a lease: what ends it.

#include "lease/tenure.hpp"
#include "unit/lease/granted_lease.hpp"
#include "unit/printers.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::error_code;
using holdfast::lease_state;
using holdfast::log_level;
using holdfast::loss_reason;
using holdfast::test::due;
using holdfast::test::freed;
using holdfast::test::grant;
using holdfast::test::outcome;
using holdfast::test::scripted_client;
using holdfast::test::take_away;

BOOST_AUTO_TEST_SUITE(tenure_watch_test)

BOOST_AUTO_TEST_CASE(those_who_watch_are_told_of_the_loss_and_of_nothing_else) {
    scripted_client all;
    auto one = grant(all, due);
    outcome first;
    outcome second;
    one.wait_lost(first.loss());
    one.wait_lost(second.loss());
    all.run();
    BOOST_TEST(!first.error.has_value());
    take_away(all);
    for (auto const* each : {&first, &second}) {
        BOOST_TEST((each->error == error_code{}));
        BOOST_TEST(each->reason == loss_reason::taken);
    }
    BOOST_TEST(one.state() == lease_state::lost);
    BOOST_TEST(one.loss() == loss_reason::taken);
    BOOST_TEST((one.remaining() == 0ns));
    BOOST_TEST(all.count().losses.taken == 1U);
    BOOST_TEST(all.log.count(log_level::warning, "the lease of \"a\" is lost") == 1U);

    // Who asks later is told at once.
    outcome late;
    one.wait_lost(late.loss());
    BOOST_TEST(!late.error.has_value());
    all.run();
    BOOST_TEST(late.reason == loss_reason::taken);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_watch_is_the_release) {
    scripted_client all;
    auto one = grant(all);
    outcome told;
    one.wait_lost(told.loss());
    one.release(asio::detached);
    all.run();
    all.answer(freed());
    BOOST_TEST((told.error == errc::not_held));
    BOOST_TEST(told.reason == loss_reason::none);
    outcome late;
    one.wait_lost(late.loss());
    all.run();
    BOOST_TEST((late.error == errc::not_held));
}

BOOST_AUTO_TEST_CASE(a_watch_can_be_cancelled_and_the_others_go_on) {
    scripted_client all;
    auto one = grant(all, due);
    outcome cancelled;
    outcome other;
    asio::cancellation_signal signal;
    one.wait_lost(asio::bind_cancellation_slot(signal.slot(), cancelled.loss()));
    one.wait_lost(other.loss());
    signal.emit(asio::cancellation_type::total);
    BOOST_TEST(!cancelled.error.has_value());
    all.run();
    BOOST_TEST((cancelled.error == asio::error::operation_aborted));
    BOOST_TEST(!other.error.has_value());
    take_away(all);
    BOOST_TEST(other.reason == loss_reason::taken);
}

BOOST_AUTO_TEST_SUITE_END()
