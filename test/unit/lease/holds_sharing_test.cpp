// Readers of one client that have a hold together: who may join, and when the hold is given back.

#include "lease/holds.hpp"
#include "unit/acquire/reading_client.hpp"
#include "unit/printers.hpp"

#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <deque>
#include <string>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::lease_state;
using holdfast::loss_reason;
using holdfast::owner;
using holdfast::test::acquiring;
using holdfast::test::freed;
using holdfast::test::granted;
using holdfast::test::reading_client;
using holdfast::test::replied;

BOOST_AUTO_TEST_SUITE(holds_sharing_test)

BOOST_AUTO_TEST_CASE(one_that_comes_at_once_has_the_hold_too_and_the_last_one_gives_it_back) {
    reading_client all;
    acquiring first{all, all.reader()};
    // It waits for the same answer.
    acquiring second{all, all.reader()};
    BOOST_TEST(all.sent() == "read_lock.acquire");
    all.answer(all.granted_reader());
    BOOST_TEST(first.got.valid());
    BOOST_TEST(second.got.valid());
    acquiring third{all, all.reader()};
    BOOST_TEST(third.got.valid());
    BOOST_TEST(all.server->requests.empty());
    BOOST_TEST((third.got.token() == first.got.token()));
    BOOST_TEST(all.count().grants == 3U);
    BOOST_TEST(all.count().leases_now == 3U);

    first.got = {};
    all.run();
    third.got.release(asio::detached);
    all.run();
    BOOST_TEST(all.server->requests.empty());
    BOOST_TEST(second.got.valid());
    second.got.release(asio::detached);
    all.run();
    BOOST_TEST(all.sent() == "read_lock.release");
    BOOST_TEST(all.held().empty());
    BOOST_TEST(all.count().leases_now == 0U);
    all.answer(freed());
    BOOST_TEST(all.held().releases().idle());
}

BOOST_AUTO_TEST_CASE(while_others_wait_only_those_have_it_that_waited_for_it) {
    reading_client all;
    acquiring first{all, all.reader()};
    acquiring second{all, all.reader()};
    all.answer(all.granted_reader(true));
    BOOST_TEST(second.got.valid());
    acquiring third{all, all.reader()};
    BOOST_TEST(!third.done());
    BOOST_TEST(all.sent() == "read_lock.acquire");
    all.answer(all.queued());
    BOOST_TEST(!third.done());
}

BOOST_AUTO_TEST_CASE(a_refusal_ends_it) {
    reading_client all;
    acquiring first{all, all.reader()};
    all.answer(all.granted_reader());
    // Longer than the hold lasts: the server is asked.
    auto longer = all.reader();
    longer.lease = 10min;
    acquiring second{all, longer};
    BOOST_TEST(all.sent() == "read_lock.acquire");
    all.answer(all.queued());
    acquiring third{all, all.reader()};
    BOOST_TEST(!third.done());
}

BOOST_AUTO_TEST_CASE(a_reader_does_not_pass_a_writer_that_waits_in_its_client) {
    reading_client all;
    acquiring first{all, all.reader()};
    all.answer(all.granted_reader());
    acquiring writer{all, all.writer()};
    acquiring second{all, all.reader()};
    BOOST_TEST(!second.done());
    BOOST_TEST(all.server->requests.size() == 2U);
}

BOOST_AUTO_TEST_CASE(an_owner_that_writes_reads_beside_itself_and_nobody_with_it) {
    reading_client all;
    auto const me = owner::make();
    acquiring writer{all, all.writer(me)};
    all.answer(granted(5));
    BOOST_TEST(writer.got.valid());
    auto const written_as = all.held().of_owner(*all.write, me)->over().id();
    acquiring other{all, all.reader()};
    all.answer(all.queued());
    acquiring reader{all, all.reader(me)};
    BOOST_TEST(all.text(all.server->requests.size() - 1)
                   .ends_with(" 0 2000 0 " + std::string{written_as.view()} + " 0 0"));
    while (!reader.done()) {
        // Two words about a learned lease follow.
        auto const& oldest = all.server->requests.front().what;
        all.answer(
            oldest.word(oldest.size() - 3) == written_as.view() ? all.granted_reader()
                                                                : all.queued()
        );
    }
    BOOST_TEST(reader.got.valid());
    BOOST_TEST(!other.done());
    acquiring third{all, all.reader()};
    BOOST_TEST(!third.done());
    acquiring again{all, all.reader(me)};
    BOOST_TEST(again.got.valid());
}

BOOST_AUTO_TEST_CASE(an_owner_that_reads_does_not_wait_for_itself) {
    reading_client all;
    auto const me = owner::make();
    acquiring reader{all, all.reader(me)};
    all.answer(all.granted_reader());
    acquiring writer{all, all.writer(me)};
    BOOST_TEST((writer.error == errc::would_deadlock));
    BOOST_TEST(!writer.got);
    acquiring other{all, all.writer(owner::make())};
    BOOST_TEST(!other.done());
}

BOOST_AUTO_TEST_CASE(each_is_renewed_for_itself_and_two_at_a_time_are_one_for_the_server) {
    reading_client all;
    auto const one = owner::make();
    auto const two = owner::make();
    acquiring first{all, all.reader(one)};
    acquiring second{all, all.reader(two)};
    all.answer(all.granted_reader());
    auto const tenure_of = [&](owner const& who) {
        return all.held().of_owner(*all.read, who)->shared_from_this();
    };
    auto const before = first.got.deadline();
    auto const untouched = second.got.deadline();
    all.held().renewing().hand_in(tenure_of(one));
    all.eventually([&] { return !all.server->requests.empty(); });
    BOOST_TEST(all.sent() == "read_lock.renew");
    all.answer(replied(1));
    BOOST_TEST((first.got.deadline() > before));
    // Whoever does not ask is stuck, perhaps.
    BOOST_TEST((second.got.deadline() == untouched));

    all.held().renewing().hand_in(tenure_of(one));
    all.held().renewing().hand_in(tenure_of(two));
    all.run();
    BOOST_TEST(all.sent() == "read_lock.renew_many");
    BOOST_TEST(all.server->requests.front().what.keys() == 2U);
    all.answer(replied("1"));
    BOOST_TEST((second.got.deadline() > untouched));
    BOOST_TEST(first.got.state() == lease_state::held);

    all.held().renewing().hand_in(tenure_of(one));
    all.eventually([&] { return !all.server->requests.empty(); });
    all.answer(replied(0, 0));
    BOOST_TEST(first.got.loss() == loss_reason::deleted);
    BOOST_TEST(second.got.loss() == loss_reason::deleted);
}

BOOST_AUTO_TEST_SUITE_END()
