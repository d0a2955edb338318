// No lock is granted for a while after a failover.

#include "client/grant_delay.hpp"

#include "unit/acquire/acquiring.hpp"
#include "unit/acquire/handing_client.hpp"
#include "unit/lease/granted_lease.hpp"

#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

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
using holdfast::test::handing_client;
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

// Who is given a lock does not ask for it, so no attempt is there to be held back.
BOOST_AUTO_TEST_CASE(a_release_gives_the_lock_to_nobody_meanwhile) {
    for (auto const known_for : {0, 3'600'000}) {
        handing_client all{delayed(1h)};
        all.reconnect_to("a");
        all.answer(replied(known_for, server_time));
        auto held = grant(all);
        held.release(asio::detached);
        all.run();
        BOOST_REQUIRE(all.sent() == "release");
        bool const gives = all.text().find(" holdfast_queue:{a} ") != std::string::npos;
        BOOST_TEST(gives == (known_for != 0), all.text());
    }
}

BOOST_AUTO_TEST_CASE(each_connection_asks_and_an_older_answer_counts_no_more) {
    world all{1h};
    acquiring const waiting{all};
    all.reconnect_to("a");
    BOOST_TEST(all.sent() == "server.meet server.meet");
    all.answer(replied(3'600'000, server_time));
    BOOST_TEST(all.sent() == "server.meet");
    all.answer(replied(3'600'000, server_time));
    BOOST_TEST(all.eventually([&] { return all.sent() == "acquire"; }));
}

// The server's clock stepped an hour ahead while its machine started.
BOOST_AUTO_TEST_CASE(a_client_that_knew_the_server_before_counts_for_itself) {
    world all{80ms};
    all.answer(replied(3'600'000, server_time));
    all.reconnect_to("b");
    acquiring const waiting{all};
    all.answer(replied(3'600'000, server_time));
    all.run();
    BOOST_TEST(all.sent() == "");
    BOOST_TEST(all.log.count(log_level::info, "the server is a new one") == 1U);
    BOOST_TEST(all.eventually([&] { return all.sent() == "acquire"; }));
}

BOOST_AUTO_TEST_CASE(a_step_of_the_servers_clock_ends_no_delay) {
    world all{80ms};
    acquiring const waiting{all};
    all.answer(replied(0, server_time));
    all.reconnect_to("a");
    all.answer(replied(3'600'000, server_time + 3'600'000'000));
    all.run();
    BOOST_TEST(all.sent() == "");
    BOOST_TEST(all.log.count(log_level::info, "the server is a new one") == 2U);
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

// A cluster

namespace {

// Server 0 has slot 5061, and server 1 slot 12182.
std::shared_ptr<holdfast::detail::target const> lock_named(char const* name) {
    return std::make_shared<holdfast::detail::target const>(
        holdfast::detail::make_lock_target("", name)
    );
}

struct cluster_world : scripted_client {
    explicit cluster_world(std::chrono::milliseconds delay)
        : scripted_client{on_cluster(delay), false} {
        server->run_id = "a";
        server->commands_up = true;
        up(0);
        up(1);
    }
    static config on_cluster(std::chrono::milliseconds delay) {
        auto settings = delayed(delay);
        settings.cluster_nodes = {{"127.0.0.1", 7000}};
        return settings;
    }
    void up(std::uint32_t number) {
        on_strand([&] { server->events->on_up({.server = number, .epoch = ++epoch}); });
    }

    std::uint64_t epoch = 0;
};

}  // namespace

BOOST_AUTO_TEST_CASE(on_a_cluster_each_node_is_met_under_a_key_that_it_has) {
    cluster_world all{1h};
    BOOST_REQUIRE(all.sent() == "server.meet server.meet");
    for (std::uint32_t const number : {0U, 1U}) {
        auto const& sent = all.server->requests.at(number).what;
        auto const key = std::string{sent.word(0)};
        BOOST_TEST((all.server->server_of(holdfast::detail::slot_of(key)) == number));
        BOOST_TEST(key.starts_with("holdfast_server:{"), key);
        BOOST_TEST(sent.word(1) == "a");
    }
    // Each client chooses the same one.
    cluster_world other{1h};
    BOOST_TEST(
        other.server->requests.at(1).what.word(0) == all.server->requests.at(1).what.word(0)
    );
}

BOOST_AUTO_TEST_CASE(on_a_cluster_a_node_holds_back_what_it_has_and_nothing_else) {
    cluster_world all{1h};
    acquiring const at_zero{all, {.on = lock_named("bar")}};
    acquiring const at_one{all, {.on = lock_named("foo")}};
    BOOST_TEST(all.sent() == "server.meet server.meet");
    all.answer(replied(3'600'000, server_time));
    BOOST_TEST(all.eventually([&] { return all.sent() == "server.meet acquire"; }));
    all.answer(replied(3'600'000 - 50, server_time));
    BOOST_TEST(all.sent() == "acquire");
    acquiring const later{all, {.on = lock_named("{foo}2")}};
    BOOST_TEST(all.sent() == "acquire");
    BOOST_TEST(all.eventually([&] { return all.sent() == "acquire acquire acquire"; }));
}

BOOST_AUTO_TEST_CASE(on_a_cluster_who_has_taken_over_is_met_again_and_another_connection_is_not) {
    cluster_world all{1h};
    all.answer(replied(3'600'000, server_time));
    all.answer(replied(3'600'000, server_time));
    all.on_strand([&] { all.server->events->on_down({.server = 1, .epoch = 2}); });
    // Its connection tells of it.
    all.on_strand([&] { all.server->events->on_failed_over(1); });
    BOOST_TEST(all.sent() == "");
    all.up(1);
    BOOST_TEST(all.sent() == "server.meet");
    all.answer(replied(0, server_time));
    // It was connected to before.
    all.on_strand([&] { all.server->events->on_failed_over(0); });
    BOOST_TEST(all.sent() == "server.meet");
    all.answer(replied(0, server_time));
    acquiring const at_zero{all, {.on = lock_named("bar")}};
    acquiring const at_one{all, {.on = lock_named("foo")}};
    BOOST_TEST(all.sent() == "");
}

BOOST_AUTO_TEST_CASE(on_a_cluster_slots_that_moved_do_not_end_the_delay) {
    cluster_world all{1h};
    acquiring const waiting{all, {.on = lock_named("foo")}};
    acquiring const trying{all, {.how_long = once.how_long, .on = lock_named("foo")}};
    BOOST_TEST(all.sent() == "server.meet server.meet");
    all.on_strand([&] { all.server->events->on_moved([](std::string_view) { return true; }); });
    all.pass(50ms);
    BOOST_TEST(all.sent() == "server.meet server.meet");
    all.answer(replied(3'600'000, server_time));
    all.answer(replied(3'600'000, server_time));
    BOOST_TEST(all.eventually([&] { return all.sent() == "acquire acquire"; }));
}

// One whose connection is up, and of which the client has not been told.
BOOST_AUTO_TEST_CASE(on_a_cluster_a_node_grants_nothing_before_it_is_met) {
    scripted_client all{cluster_world::on_cluster(1h), false};
    all.server->run_id = "a";
    all.server->commands_up = true;
    acquiring const waiting{all, {.on = lock_named("foo")}};
    acquiring const trying{all, {.how_long = once.how_long, .on = lock_named("foo")}};
    BOOST_TEST(all.sent() == "");
}

BOOST_AUTO_TEST_CASE(without_a_delay_nobody_is_met_on_a_cluster) {
    cluster_world all{0ms};
    all.on_strand([&] { all.server->events->on_failed_over(1); });
    BOOST_TEST(all.sent() == "");
    acquiring const one{all, {.on = lock_named("foo")}};
    BOOST_TEST(all.sent() == "acquire");
}

BOOST_AUTO_TEST_SUITE_END()
