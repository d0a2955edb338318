// What a client reports of its holds with learned leases, and what ends with its context.

#include "lease/holds.hpp"

#include "unit/acquire/handing_client.hpp"
#include "unit/lease/granted_lease.hpp"
#include "unit/printers.hpp"

#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <memory>
#include <string>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::lease_clock;
using holdfast::lease_state;
using holdfast::loss_reason;
using holdfast::test::acquiring;
using holdfast::test::acquiring_options;
using holdfast::test::grant;
using holdfast::test::handing_client;
using holdfast::test::replied;
using holdfast::test::scripted_client;

BOOST_AUTO_TEST_SUITE(holds_test)

// A handler keeps its executor busy: it may not outlive the context.
BOOST_AUTO_TEST_CASE(those_who_watch_a_lease_that_is_being_released_end_with_the_context) {
    for (bool const sent : {false, true}) {
        auto all = std::make_unique<scripted_client>();
        all->server->commands_up = sent;
        auto released = grant(*all);
        auto const owned = std::make_shared<int>();
        released.wait_lost([owned](holdfast::error_code, loss_reason) {});
        released.release([owned](holdfast::error_code) {});
        all->run();
        BOOST_TEST(owned.use_count() == 3);
        all.reset();
        BOOST_TEST(owned.use_count() == 1);
    }
}

namespace {

acquiring_options const learning{.lease = holdfast::learned};

// The lease of an attempt that asked for `tokens`: 6 s for holds of 1 s.
holdfast::detail::exec_result learned(std::int64_t token = 7) {
    return replied(1, token, 1, 6'000, 1'000'000);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_lease_that_was_lost_is_not_reported) {
    handing_client all;
    acquiring one{all, learning};
    all.answer(learned());
    one.got.renew(asio::detached);
    all.run();
    BOOST_TEST(all.sent() == "renew");
    all.answer(replied(0, 1));
    BOOST_TEST(one.got.state() == lease_state::lost);
    one.got.release(asio::detached);
    all.run();
    BOOST_TEST(all.sent() == "release");
    BOOST_TEST(all.text().find("holdfast_hold") == std::string::npos);
}

// Without a word to the server; it is told of both in the end.
BOOST_AUTO_TEST_CASE(a_local_hand_over_has_a_learned_lease_and_is_reported_later) {
    handing_client all;
    acquiring first{all, learning};
    acquiring second{all, learning};
    all.answer(learned());
    // The next ones need tokens.
    BOOST_TEST(all.sent() == "renew");
    all.answer(replied(1, 8, 0, 0, 0, 1'000'000));
    first.got.release(asio::detached);
    all.run();
    BOOST_REQUIRE(second.got.valid());
    BOOST_TEST((second.got.deadline() <= lease_clock::now() + 6s));
    while (!all.server->requests.empty()) {
        all.answer(replied(1, 9, 0, 0, 0, 1'000'000));
    }
    // The hold before it was brief: it needs no more than the shortest lease.
    second.got.renew(asio::detached);
    all.run();
    BOOST_TEST(all.text().find("lock.renew 1 a 5000 ") == 0U, all.text());
    all.answer(replied(1));
    second.got.release(asio::detached);
    all.run();
    BOOST_REQUIRE(all.sent() == "release");
    BOOST_TEST(all.text().find("holdfast_hold:{a}") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
