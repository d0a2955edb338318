// What a client holds: listed until it is given back, told of each connection, and released at the
// end of the client.

#include "lease/holds.hpp"

#include "unit/acquire/handing_client.hpp"
#include "unit/lease/granted_lease.hpp"
#include "unit/printers.hpp"

#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::lease_clock;
using holdfast::lease_state;
using holdfast::loss_reason;
using holdfast::owner;
using holdfast::detail::make_lock_target;
using holdfast::test::acquiring;
using holdfast::test::acquiring_options;
using holdfast::test::freed;
using holdfast::test::grant;
using holdfast::test::handing_client;
using holdfast::test::replied;
using holdfast::test::scripted_client;

BOOST_AUTO_TEST_SUITE(holds_test)

BOOST_AUTO_TEST_CASE(a_grant_is_listed_until_it_is_given_back) {
    scripted_client all;
    auto const who = std::optional{owner::make()};
    auto const other = std::optional{owner::make()};
    BOOST_TEST(all.held().empty());
    auto one = grant(all, {.who = who});
    BOOST_TEST(!all.held().empty());
    using holdfast::detail::target_key;
    constexpr auto never = holdfast::lease_clock::time_point::max();
    BOOST_TEST((all.held().held_since(target_key{*all.on}) <= holdfast::lease_clock::now()));
    BOOST_TEST((all.held().held_since(target_key{make_lock_target("", "b")}) == never));
    BOOST_TEST((all.held().of_owner(*all.on, who) != nullptr));
    BOOST_TEST((all.held().of_owner(*all.on, other) == nullptr));
    BOOST_TEST((all.held().of_owner(*all.on, {}) == nullptr));
    BOOST_TEST(all.count().leases_now == 1U);
    all.pass(1ms);
    one.release(asio::detached);
    all.run();
    BOOST_TEST(all.held().empty());
    BOOST_TEST((all.held().held_since(target_key{*all.on}) == never));
    BOOST_TEST((all.held().of_owner(*all.on, who) == nullptr));
    BOOST_TEST(all.count().leases_now == 0U);
    BOOST_TEST((all.count().total_hold > 0ns));
    all.answer(freed());
    BOOST_TEST(all.held().releases().idle());
}

BOOST_AUTO_TEST_CASE(a_broken_connection_is_doubt_and_the_next_one_renews) {
    scripted_client all;
    // Renewed as soon as there is a connection: the delay is a part of this time.
    auto const one = grant(all, {.renew_after = 0ns});
    BOOST_TEST(all.sent() == "renew");
    all.set_commands_up(false);
    BOOST_TEST(one.state() == lease_state::in_doubt);
    all.server->requests.clear();
    all.set_commands_up(true);
    BOOST_TEST(one.state() == lease_state::in_doubt);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_client_costs_every_lease_and_releases_it) {
    scripted_client all;
    auto const first = grant(all);
    auto const second = grant(all);
    all.on_strand([&] { all.held().stop(); });
    BOOST_TEST(all.sent() == "release release");
    BOOST_TEST(all.held().empty());
    for (auto const* one : {&first, &second}) {
        BOOST_TEST(one->state() == lease_state::lost);
        BOOST_TEST(one->loss() == loss_reason::client_stopped);
    }
    BOOST_TEST(all.count().losses.client_stopped == 2U);
    // Somebody else may have it by then: nothing is left behind.
    all.answer(replied(0, 1));
    all.answer(freed());
    BOOST_TEST(all.held().releases().idle());
    BOOST_TEST(!all.held().releases().left_behind());
}

BOOST_AUTO_TEST_CASE(leases_may_outlive_the_context) {
    auto all = std::make_unique<scripted_client>();
    auto const one = grant(*all);
    auto const two = grant(*all, {.sent_ago = 2h});
    bool called = false;
    auto watched = grant(*all);
    watched.wait_lost([&](holdfast::error_code, loss_reason) { called = true; });
    all->run();
    all.reset();
    BOOST_TEST(one.state() == lease_state::lost);
    BOOST_TEST(two.loss() == loss_reason::client_stopped);
    BOOST_TEST(!called);
}

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

std::string last_words(handing_client const& all, std::size_t at) {
    auto const& sent = all.server->requests.at(at).what;
    return std::string{sent.word(sent.size() - 2)} + " " + std::string{sent.word(sent.size() - 1)};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_release_reports_how_long_the_lock_was_held) {
    handing_client all;
    acquiring one{all, learning};
    all.answer(learned());
    auto const end = lease_clock::now() + 20ms;
    BOOST_TEST(all.eventually([&] { return lease_clock::now() >= end; }));
    one.got.release(asio::detached);
    all.run();
    auto const words = last_words(all, 0);
    BOOST_TEST(words.substr(0, 2) == "1 ");
    BOOST_TEST(std::stol(words.substr(2)) >= 19'000);
}

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

BOOST_AUTO_TEST_CASE(a_hold_that_runs_long_is_renewed_with_a_longer_lease) {
    holdfast::config settings;
    settings.learned_lease_min = 1s;
    handing_client all{settings};
    acquiring one{all, learning};
    all.answer(replied(1, 7, 1, 1'000, 1'000));
    auto const end = lease_clock::now() + 700ms;
    for (auto next = end - 500ms; next <= end; next += 100ms) {
        BOOST_TEST(all.eventually([&] { return lease_clock::now() >= next; }));
        while (!all.server->requests.empty()) {
            all.answer(replied(1));
        }
    }
    BOOST_TEST(one.got.valid());
    BOOST_TEST((one.got.remaining() > 1s));
}

BOOST_AUTO_TEST_SUITE_END()
