// A campaign: the lock first, then the value; what each cancellation leaves; and what happens when
// the lock is lost between the two.

#include "client/campaign_op.hpp"

#include "unit/client/electing.hpp"
#include "unit/printers.hpp"

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <string>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::error_code;
using holdfast::detail::exec_status;
using holdfast::test::campaigning;
using holdfast::test::electing;
using holdfast::test::failed;
using holdfast::test::freed;
using holdfast::test::granted;
using holdfast::test::unanswered;

BOOST_AUTO_TEST_SUITE(campaign_op_test)

BOOST_AUTO_TEST_CASE(it_acquires_the_lock_and_proclaims_its_value_with_the_token) {
    electing all;
    campaigning one{all, "my address"};
    BOOST_TEST(!one.inside);
    BOOST_TEST(all.sent() == "acquire");
    all.answer(granted(7));
    BOOST_TEST(!one.error.has_value());
    BOOST_TEST(all.sent() == "election.proclaim");
    BOOST_TEST(all.word(0) == "a");
    BOOST_TEST(all.word(3) == "7");
    BOOST_TEST(all.word(4) == "1");
    BOOST_TEST(all.word(6) == "my address");
    all.answer(electing::proclaimed());
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(one.won.valid());
    BOOST_TEST(one.won.term().value == 7U);
    BOOST_TEST(all.sent() == "");
}

BOOST_AUTO_TEST_CASE(who_has_the_lock_no_more_when_its_value_comes_acquires_it_again) {
    electing all;
    campaigning one{all};
    all.answer(granted(7));
    all.answer(electing::not_leader());
    BOOST_TEST(!one.error.has_value());
    BOOST_TEST(all.sent() == "release acquire");
    all.answer(freed());
    all.answer(granted(9));
    BOOST_TEST(all.word(3) == "9");
    all.answer(electing::proclaimed());
    BOOST_TEST(one.won.valid());
    BOOST_TEST(one.won.term().value == 9U);
}

BOOST_AUTO_TEST_CASE(a_value_that_was_not_answered_is_sent_again) {
    electing all;
    campaigning one{all};
    all.answer(granted(7));
    all.answer(unanswered());
    BOOST_TEST(!one.error.has_value());
    BOOST_TEST(all.eventually([&] { return !all.server->requests.empty(); }));
    BOOST_TEST(all.sent() == "election.proclaim");
    BOOST_TEST(all.word(4) == "1");
    all.answer(electing::proclaimed());
    BOOST_TEST(one.won.valid());
}

BOOST_AUTO_TEST_CASE(a_value_that_is_refused_for_good_gives_the_lock_back) {
    electing all;
    campaigning one{all};
    all.answer(granted(7));
    all.answer(failed(errc::no_permission));
    BOOST_TEST((one.error == errc::no_permission));
    BOOST_TEST(!one.won);
    BOOST_TEST(all.sent() == "release");

    electing other;
    campaigning two{other};
    other.answer(granted(7));
    other.answer(holdfast::test::replied(2));
    BOOST_TEST((two.error == errc::corrupt_state));
    BOOST_TEST(other.sent() == "release");
}

BOOST_AUTO_TEST_CASE(
    who_cannot_proclaim_for_as_long_as_a_lease_lasts_gives_the_lock_back_and_goes_on
) {
    auto settings = electing::quick();
    settings.lease = 1s;
    electing all{settings};
    campaigning one{all};
    all.answer(granted(7));
    std::string sent;
    auto const refuse = [&] {
        while (!all.server->requests.empty() && !sent.ends_with("release")) {
            sent = all.sent().substr(0, all.sent().find(' '));
            bool const value = sent == "election.proclaim";
            all.answer(
                value                     ? failed(errc::server_refused, exec_status::refused)
                : sent.ends_with("renew") ? holdfast::test::replied(1)
                                          : freed()
            );
        }
        return sent == "release";
    };
    BOOST_TEST(all.eventually(refuse));
    BOOST_TEST(!one.error.has_value());
    BOOST_TEST(all.sent() == "acquire");
    all.answer(granted(9));
    all.answer(electing::proclaimed());
    BOOST_TEST(one.won.valid());
    BOOST_TEST(one.won.term().value == 9U);
}

BOOST_AUTO_TEST_CASE(cancelled_while_it_waits_for_the_lock_it_is_over_at_once) {
    electing all;
    campaigning one{all};
    all.answer(holdfast::test::busy());
    one.signal.emit(asio::cancellation_type::total);
    all.run();
    BOOST_TEST((one.error == asio::error::operation_aborted));
    BOOST_TEST(!one.won);
    BOOST_TEST(all.sent() == "");
}

BOOST_AUTO_TEST_CASE(cancelled_while_it_proclaims_it_gives_the_lock_back_or_waits_for_the_answer) {
    for (auto const type :
         {asio::cancellation_type::terminal,
          asio::cancellation_type::partial,
          asio::cancellation_type::all}) {
        electing all;
        campaigning one{all};
        all.answer(granted(7));
        one.signal.emit(type);
        all.run();
        BOOST_TEST((one.error == asio::error::operation_aborted));
        BOOST_TEST(!one.won);
        BOOST_TEST(all.sent() == "election.proclaim release");
        all.answer(electing::proclaimed());
        BOOST_TEST(!one.won);
    }
    electing all;
    campaigning one{all};
    all.answer(granted(7));
    one.signal.emit(asio::cancellation_type::total);
    all.run();
    BOOST_TEST(!one.error.has_value());
    all.answer(electing::proclaimed());
    BOOST_TEST((one.error == error_code{}));
    BOOST_TEST(one.won.valid());
}

BOOST_AUTO_TEST_CASE(cancelled_while_it_proclaims_it_does_not_acquire_the_lock_again) {
    electing all;
    campaigning one{all};
    all.answer(granted(7));
    one.signal.emit(asio::cancellation_type::total);
    all.answer(electing::not_leader());
    BOOST_TEST((one.error == asio::error::operation_aborted));
    BOOST_TEST(!one.won);
    BOOST_TEST(all.sent() == "release");
}

BOOST_AUTO_TEST_CASE(it_ends_with_the_client) {
    electing all;
    campaigning waits{all};
    all.answer(holdfast::test::busy());
    all.state->shutdown([](error_code) {});
    all.run();
    BOOST_TEST((waits.error == errc::client_stopped));
    campaigning late{all};
    BOOST_TEST((late.error == errc::client_stopped));
}

BOOST_AUTO_TEST_SUITE_END()
