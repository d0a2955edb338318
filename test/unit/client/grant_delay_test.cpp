// No lock is granted for a while after a failover.

#include "client/grant_delay.hpp"

#include "unit/acquire/acquiring.hpp"
#include "unit/lease/granted_lease.hpp"

#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <optional>
#include <string>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::config;
using holdfast::errc;
using holdfast::error_code;
using holdfast::lease_state;
using holdfast::log_level;
using holdfast::test::acquiring;
using holdfast::test::failed;
using holdfast::test::freed;
using holdfast::test::grant;
using holdfast::test::granted;
using holdfast::test::once;
using holdfast::test::replied;
using holdfast::test::scripted_client;
using holdfast::test::unanswered;

namespace {

constexpr auto server_time = 1'700'000'000'000'000;

config delayed(std::chrono::milliseconds by) {
    config settings;
    settings.lock_delay = by;
    return settings;
}

/// A client that is connected to the server "a" in the end.
struct world : scripted_client {
    explicit world(std::chrono::milliseconds delay, std::string const& run_id = "a")
        : scripted_client{delayed(delay), false} {
        server->run_id = run_id;
        set_commands_up(true);
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(grant_delay_test)

BOOST_AUTO_TEST_CASE(without_a_delay_nothing_is_asked) {
    world all{0ms};
    BOOST_TEST(all.sent() == "");
    acquiring const one{all};
    BOOST_TEST(all.sent() == "acquire");
}

BOOST_AUTO_TEST_CASE(a_server_that_has_been_known_for_long_grants_at_once) {
    world all{1h};
    BOOST_TEST(all.sent() == "server.meet");
    acquiring const waiting{all};
    acquiring const trying{all, once};
    BOOST_TEST(all.sent() == "server.meet");
    all.answer(replied(3'600'000, server_time));
    BOOST_TEST(all.eventually([&] { return all.sent() == "acquire acquire"; }));
    acquiring const later{all, once};
    BOOST_TEST(all.sent() == "acquire acquire acquire");
}

BOOST_AUTO_TEST_CASE(attempts_wait_for_the_rest_of_the_delay) {
    world all{1h};
    acquiring const waiting{all};
    all.answer(replied(3'600'000 - 50, server_time));
    all.run();
    BOOST_TEST(all.sent() == "");
    acquiring const another{all};
    BOOST_TEST(all.sent() == "");
    BOOST_TEST(all.log.count(log_level::info, "no lock is granted for 50 ms") == 1U);
    BOOST_TEST(all.eventually([&] { return all.sent() == "acquire"; }));
    all.answer(granted());
    BOOST_TEST((waiting.error == error_code{}));
}

BOOST_AUTO_TEST_CASE(one_attempt_ends_with_a_cause_that_passes) {
    auto settings = delayed(1h);
    settings.request_timeout = 20ms;
    scripted_client all{settings, false};
    all.server->run_id = "a";
    all.set_commands_up(true);
    acquiring const one{all, once};
    all.answer(replied(0, server_time));
    BOOST_TEST(all.eventually([&] { return one.done(); }));
    BOOST_TEST((one.error == errc::server_refused));
    BOOST_TEST(holdfast::is_retryable(*one.error));
    BOOST_TEST(all.sent() == "");
}

BOOST_AUTO_TEST_CASE(what_is_held_is_renewed_and_released_meanwhile) {
    world all{1h};
    all.answer(replied(3'600'000, server_time));
    auto held = grant(all);
    acquiring const waiting{all};
    all.reconnect_to("b");
    BOOST_TEST(all.eventually([&] { return all.sent().find("renew") != std::string::npos; }));
    BOOST_TEST(all.sent().find("server.meet") != std::string::npos);
    held.release(asio::detached);
    all.run();
    BOOST_TEST(all.sent().find("release") != std::string::npos);
    BOOST_TEST(!waiting.done());
}

BOOST_AUTO_TEST_CASE(each_connection_asks_and_an_older_answer_counts_no_more) {
    world all{1h};
    acquiring const waiting{all};
    all.reconnect_to("b");
    BOOST_TEST(all.sent() == "server.meet server.meet");
    all.answer(replied(3'600'000, server_time));
    BOOST_TEST(all.sent() == "server.meet");
    all.answer(replied(3'600'000, server_time));
    BOOST_TEST(all.eventually([&] { return all.sent() == "acquire"; }));
}

BOOST_AUTO_TEST_CASE(a_server_that_cannot_be_asked_is_taken_for_another) {
    for (auto const& answer : {failed(errc::no_permission), unanswered(), replied("odd")}) {
        world all{30ms};
        acquiring const waiting{all};
        all.answer(answer);
        BOOST_TEST(all.sent() == "");
        BOOST_TEST(all.log.count(log_level::warning, "no lock is granted for 30 ms") == 1U);
        BOOST_TEST(all.eventually([&] { return all.sent() == "acquire"; }));
    }
}

BOOST_AUTO_TEST_CASE(without_a_run_id_each_connection_is_one_to_another_server) {
    world all{30ms, ""};
    acquiring const waiting{all};
    BOOST_TEST(all.sent() == "");
    BOOST_TEST(all.log.count(log_level::warning, "may not use INFO") == 1U);
    BOOST_TEST(all.eventually([&] { return all.sent() == "acquire"; }));
}

BOOST_AUTO_TEST_CASE(a_client_may_end_meanwhile) {
    std::optional<error_code> ended;
    world all{1h};
    acquiring const waiting{all};
    all.answer(replied(0, server_time));
    all.state->shutdown([&](error_code ec) { ended = ec; });
    all.run();
    BOOST_TEST((ended == error_code{}));
    BOOST_TEST((waiting.error == errc::client_stopped));
}

BOOST_AUTO_TEST_SUITE_END()
