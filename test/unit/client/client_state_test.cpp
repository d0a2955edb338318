// A client's beginning and end: when it is ready, what a shutdown does and promises, and what the
// end of its context means.

#include "client/client_state.hpp"

#include "unit/acquire/acquiring.hpp"
#include "unit/lease/granted_lease.hpp"
#include "unit/printers.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::config;
using holdfast::errc;
using holdfast::error_code;
using holdfast::lease_state;
using holdfast::detail::client_state;
using holdfast::test::acquiring;
using holdfast::test::failed;
using holdfast::test::freed;
using holdfast::test::grant;
using holdfast::test::granted;
using holdfast::test::replied;
using holdfast::test::scripted_client;

namespace {

struct told {
    std::optional<error_code> error;
    auto handler() {
        return [this](error_code ec) { error = ec; };
    }
};

config of_a_cluster() {
    config settings;
    settings.cluster_nodes = {{"127.0.0.1", 7000}};
    return settings;
}

std::shared_ptr<holdfast::detail::target const> lock_named(char const* name) {
    return std::make_shared<holdfast::detail::target const>(
        holdfast::detail::make_lock_target("", name)
    );
}

config hurried() {
    config settings;
    settings.shutdown_timeout = 1ms;
    return settings;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(client_state_test)

BOOST_AUTO_TEST_CASE(a_wrong_configuration_is_refused) {
    asio::io_context context;
    config settings;
    settings.port = 0;
    BOOST_CHECK_THROW(
        client_state::make(
            context.get_executor(),
            settings,
            [](auto const&, auto const&, auto const&) { return nullptr; }
        ),
        std::invalid_argument
    );
}

BOOST_AUTO_TEST_CASE(it_connects_by_itself) {
    scripted_client all;
    BOOST_TEST((all.server->events != nullptr));
}

BOOST_AUTO_TEST_CASE(it_is_ready_when_both_connections_are_up) {
    scripted_client all{{}, false};
    told waiting;
    all.state->ready(waiting.handler());
    all.run();
    all.set_commands_up(true);
    BOOST_TEST(!waiting.error.has_value());
    all.server->subscriptions_up = true;
    all.on_strand([&] {
        all.server->events->on_up({.what = scripted_client::purpose::subscriptions});
    });
    BOOST_TEST((waiting.error == error_code{}));
    told late;
    all.state->ready(late.handler());
    BOOST_TEST(!late.error.has_value());
    all.run();
    BOOST_TEST((late.error == error_code{}));
}

BOOST_AUTO_TEST_CASE(who_waits_for_it_learns_of_a_cause_that_does_not_pass) {
    scripted_client all{{}, false};
    told waiting;
    told cancelled;
    told late;
    asio::cancellation_signal signal;
    all.state->ready(waiting.handler());
    all.state->ready(asio::bind_cancellation_slot(signal.slot(), cancelled.handler()));
    all.run();
    signal.emit(asio::cancellation_type::total);
    all.run();
    BOOST_TEST((cancelled.error == asio::error::operation_aborted));
    all.fail(errc::auth_failed);
    BOOST_TEST((waiting.error == errc::auth_failed));
    all.state->ready(late.handler());
    all.run();
    BOOST_TEST((late.error == errc::auth_failed));
}

BOOST_AUTO_TEST_CASE(a_shutdown_releases_what_is_held_and_ends_what_waits) {
    scripted_client all;
    auto const held = grant(all);
    acquiring const waiting{all};
    told ready;
    told shutdown;
    all.server->subscriptions_up = false;
    all.state->ready(ready.handler());
    all.run();
    all.state->shutdown(shutdown.handler());
    BOOST_TEST(held.state() == lease_state::lost);
    all.run();
    BOOST_TEST((waiting.error == errc::client_stopped));
    BOOST_TEST((ready.error == errc::client_stopped));
    BOOST_TEST(all.sent() == "acquire release release");
    BOOST_TEST(!shutdown.error.has_value());
    BOOST_TEST(!all.server->stopped);
    all.answer(granted());
    all.answer(freed());
    all.answer(freed());
    BOOST_TEST((shutdown.error == error_code{}));
    BOOST_TEST(all.server->stopped);
    told again;
    all.state->shutdown(again.handler());
    all.run();
    BOOST_TEST((again.error == error_code{}));
    told late;
    all.state->ready(late.handler());
    all.run();
    BOOST_TEST((late.error == errc::client_stopped));
}

BOOST_AUTO_TEST_CASE(a_shutdown_takes_no_longer_than_it_may_and_says_that_something_is_left) {
    scripted_client all{hurried()};
    auto const held = grant(all);
    told shutdown;
    all.state->shutdown(shutdown.handler());
    BOOST_TEST(all.eventually([&] { return shutdown.error.has_value(); }));
    BOOST_TEST((shutdown.error == errc::release_unknown));
    BOOST_TEST(all.server->stopped);
    // Whoever asks later is told the same.
    told again;
    all.state->shutdown(again.handler());
    all.run();
    BOOST_TEST((again.error == errc::release_unknown));
}

BOOST_AUTO_TEST_CASE(a_shutdown_does_not_succeed_if_a_key_is_left_by_a_release_before_it) {
    scripted_client all;
    auto held = grant(all);
    held.release(asio::detached);
    all.run();
    all.answer(failed(errc::no_permission));
    told shutdown;
    all.state->shutdown(shutdown.handler());
    all.run();
    BOOST_TEST((shutdown.error == errc::release_unknown));
}

BOOST_AUTO_TEST_CASE(with_nothing_held_a_shutdown_is_done_at_once) {
    scripted_client all;
    told first;
    told second;
    all.state->shutdown(first.handler());
    all.state->shutdown(second.handler());
    all.run();
    BOOST_TEST((first.error == error_code{}));
    BOOST_TEST((second.error == error_code{}));
    BOOST_TEST(all.server->stopped);
}

BOOST_AUTO_TEST_CASE(draining_waits_for_the_holders_and_refuses_the_others) {
    scripted_client all;
    auto held = grant(all);
    acquiring const waiting{all};
    told drained;
    all.state->drain(1h, drained.handler());
    all.run();
    BOOST_TEST((waiting.error == errc::client_stopped));
    BOOST_TEST(held.valid());
    acquiring const late{all};
    BOOST_TEST((late.error == errc::client_stopped));
    all.answer(granted());
    all.answer(freed());
    BOOST_TEST(!all.server->stopped);
    held.release(asio::detached);
    all.run();
    BOOST_TEST(all.sent() == "release");
    BOOST_TEST(!drained.error.has_value());
    all.answer(freed());
    BOOST_TEST((drained.error == error_code{}));
    BOOST_TEST(all.server->stopped);
}

BOOST_AUTO_TEST_CASE(draining_ends_after_its_time) {
    for (auto const timeout : {0ms, 1ms}) {
        scripted_client all;
        auto const held = grant(all);
        told drained;
        all.state->drain(timeout, drained.handler());
        BOOST_TEST(all.eventually([&] { return all.sent() == "release"; }));
        BOOST_TEST(held.state() == lease_state::lost);
        all.answer(freed());
        BOOST_TEST((drained.error == error_code{}));
    }
}

BOOST_AUTO_TEST_CASE(a_client_whose_handle_is_gone_shuts_down) {
    scripted_client all;
    auto const held = grant(all);
    all.state->abandon();
    BOOST_TEST(held.state() == lease_state::lost);
    all.run();
    all.answer(freed());
    BOOST_TEST(all.server->stopped);
}

BOOST_AUTO_TEST_CASE(at_the_end_of_the_context_nobody_is_called) {
    auto all = std::make_unique<scripted_client>();
    told shutdown;
    auto const held = grant(*all);
    auto const state = all->state;
    state->shutdown(shutdown.handler());
    all->run();
    all.reset();
    BOOST_TEST(!shutdown.error.has_value());
    BOOST_TEST(state->gone());
    BOOST_TEST(held.state() == lease_state::lost);
    // What comes after it does no harm.
    told late;
    state->ready(late.handler());
    state->shutdown(late.handler());
    state->abandon();
    BOOST_TEST(!late.error.has_value());
}

BOOST_AUTO_TEST_CASE(on_a_cluster_a_connection_concerns_what_its_server_has) {
    scripted_client all{of_a_cluster()};
    // Slot 5061 is server 0's, and slot 12182 is server 1's.
    auto const mine = grant(all, {.on = lock_named("bar")});
    auto const other = grant(all, {.on = lock_named("foo")});
    all.server->out_of_reach = {1};
    all.on_strand([&] { all.server->events->on_down({.server = 1, .epoch = 1}); });
    BOOST_TEST((mine.state() == lease_state::held));
    BOOST_TEST((other.state() == lease_state::in_doubt));
    // An attempt waits for its own server only.
    acquiring const waiting{all, {.on = lock_named("{foo}2")}};
    acquiring const granted_one{all, {.on = lock_named("{bar}2")}};
    BOOST_TEST(all.sent() == "acquire");
    all.answer(granted());
    BOOST_TEST(granted_one.got.valid());
    BOOST_TEST(!waiting.done());
    all.server->out_of_reach = {};
    all.on_strand([&] { all.server->events->on_up({.server = 0, .epoch = 2}); });
    BOOST_TEST(all.sent().find("acquire") == std::string::npos);
    all.on_strand([&] { all.server->events->on_up({.server = 1, .epoch = 2}); });
    BOOST_TEST(all.eventually([&] { return all.sent().find("acquire") != std::string::npos; }));
}

BOOST_AUTO_TEST_CASE(on_a_cluster_what_waits_for_a_server_goes_on_when_another_one_has_its_slot) {
    scripted_client all{of_a_cluster()};
    all.server->out_of_reach = {0, 1};
    acquiring const waiting{all};
    BOOST_TEST(all.sent() == "");
    all.server->out_of_reach = {};
    all.on_strand([&] {
        all.server->events->on_moved([](std::string_view key) { return key == "b"; });
    });
    BOOST_TEST(all.sent() == "");
    all.on_strand([&] {
        all.server->events->on_moved([](std::string_view key) { return key == "a"; });
    });
    BOOST_TEST(all.eventually([&] { return all.sent() == "acquire"; }));
}

BOOST_AUTO_TEST_CASE(a_failure_of_one_node_does_not_end_what_others_have) {
    scripted_client all{of_a_cluster()};
    all.server->out_of_reach = {0, 1};
    auto const foo = lock_named("foo");
    acquiring const at_one{all, {.on = foo}};
    auto const bar = lock_named("bar");
    acquiring const at_zero{all, {.on = bar}};
    all.on_strand([&] { all.server->events->on_failure({.server = 1}, errc::auth_failed); });
    BOOST_TEST((at_one.error == errc::auth_failed));
    BOOST_TEST(!at_zero.done());
}

BOOST_AUTO_TEST_CASE(on_a_cluster_what_is_gone_has_failed_over_only_where_a_server_has_taken_over) {
    for (bool const taken_over : {true, false}) {
        scripted_client all{of_a_cluster()};
        // Of server 0 and of server 1.
        auto const mine = grant(all, {.on = lock_named("bar"), .renew = false});
        auto const other = grant(all, {.on = lock_named("foo"), .renew = false});
        all.on_strand([&] {
            if (taken_over) {
                all.server->events->on_failed_over(1);
            }
            all.server->events->on_moved([](std::string_view key) { return key == "foo"; });
        });
        BOOST_TEST((mine.state() == lease_state::held));
        // Slots that have only moved are no reason to ask.
        BOOST_TEST((other.state() == lease_state::in_doubt) == taken_over);
        BOOST_TEST(all.sent() == (taken_over ? "renew" : ""));
        if (taken_over) {
            all.answer(holdfast::test::replied(0, 0));
            BOOST_TEST((other.loss() == holdfast::loss_reason::failed_over));
            BOOST_TEST((mine.state() == lease_state::held));
        }
    }
}

BOOST_AUTO_TEST_CASE(what_the_former_server_grants_late_is_asked_for_where_another_has_taken_over) {
    scripted_client all{of_a_cluster()};
    auto const foo = lock_named("foo");
    acquiring const late{all, {.on = foo}};
    all.on_strand([&] { all.server->events->on_failed_over(1); });
    all.answer(granted(5));
    BOOST_TEST((late.got.state() == lease_state::held));
    all.on_strand([&] {
        all.server->events->on_moved([](std::string_view key) { return key == "foo"; });
    });
    BOOST_TEST((late.got.state() == lease_state::in_doubt));
    BOOST_TEST(all.eventually([&] { return all.sent() == "renew"; }));
    all.answer(holdfast::test::replied(0, 0));
    BOOST_TEST((late.got.loss() == holdfast::loss_reason::failed_over));
}

BOOST_AUTO_TEST_CASE(a_replica_that_takes_over_is_asked_for_the_users_rights_again) {
    scripted_client all{of_a_cluster()};
    for (std::uint32_t const number : {0U, 1U}) {
        all.state->server(number).has_granted = true;
    }
    all.on_strand([&] { all.server->events->on_failed_over(1); });
    BOOST_TEST(all.state->server(0).has_granted);
    BOOST_TEST(!all.state->server(1).has_granted);
}

BOOST_AUTO_TEST_CASE(on_a_cluster_a_lock_that_is_gone_from_a_slot_that_moved_was_deleted) {
    scripted_client all{of_a_cluster()};
    auto const foo = lock_named("foo");
    auto const lease = grant(all, {.renew_after = 1min, .on = foo});
    all.on_strand([&] { all.server->events->on_down({.server = 1, .epoch = 1}); });
    BOOST_TEST((lease.state() == lease_state::in_doubt));
    all.on_strand([&] {
        all.server->events->on_failed_over(0);
        all.server->events->on_moved([](std::string_view key) { return key == "foo"; });
    });
    BOOST_TEST(all.eventually([&] { return all.sent() == "renew"; }));
    all.answer(holdfast::test::replied(0, 0));
    BOOST_TEST((lease.loss() == holdfast::loss_reason::deleted));
}

BOOST_AUTO_TEST_CASE(nothing_is_kept_of_a_server_that_no_node_names_any_more) {
    config settings;
    settings.lock_delay = 1h;
    scripted_client all{settings, false};
    holdfast::detail::connection_id const there{
        .what = scripted_client::purpose::commands,
        .server = 5
    };
    all.server->commands_up = true;
    auto const connect = [&](std::string const& run_id) {
        all.server->run_id = run_id;
        all.on_strand([&] { all.server->events->on_up(there); });
    };
    connect("a");
    connect("b");
    BOOST_TEST(all.log.count("the server is another one") == 1U);
    BOOST_TEST(all.sent() == "server.meet server.meet");
    all.on_strand([&] { all.server->events->on_forgotten(5); });
    // What was asked of it is answered.
    all.answer(replied(3'600'000, 1));
    all.answer(replied(3'600'000, 1));
    connect("c");
    BOOST_TEST(all.log.count("the server is another one") == 1U);
    BOOST_TEST(all.sent() == "server.meet");
}

BOOST_AUTO_TEST_CASE(the_status_says_whether_it_is_connected_since_when_and_why_it_was_not) {
    using holdfast::connection_state;
    scripted_client all{{}, false};
    auto const began = all.state->status();
    BOOST_TEST((began.state == connection_state::connecting));
    BOOST_TEST(!began.last_error);
    BOOST_TEST(began.last_error_text == "no attempt to connect has ended yet");
    all.on_strand([&] {
        all.server->events->on_unconnected({}, errc::unreachable, "b:6379 cannot be reached");
    });
    auto status = all.state->status();
    BOOST_TEST((status.state == connection_state::connecting));
    BOOST_TEST((status.since == began.since));
    BOOST_TEST((status.last_error == errc::unreachable));
    BOOST_TEST(status.last_error_text == "b:6379 cannot be reached");

    all.pass(1s);
    all.server->subscriptions_up = true;
    all.set_commands_up(true);
    status = all.state->status();
    BOOST_TEST((status.state == connection_state::connected));
    BOOST_TEST((status.since >= began.since + 1s));
    // That of the last outage.
    BOOST_TEST((status.last_error == errc::unreachable));

    all.pass(1s);
    all.set_commands_up(false);
    all.fail(errc::auth_failed);
    status = all.state->status();
    BOOST_TEST((status.state == connection_state::connecting));
    BOOST_TEST((status.since >= began.since + 2s));
    BOOST_TEST((status.last_error == errc::auth_failed));
    BOOST_TEST(!status.last_error_text.empty());

    all.state->shutdown([](error_code) {});
    all.run();
    BOOST_TEST((all.state->status().state == connection_state::stopped));
}

BOOST_AUTO_TEST_CASE(a_client_that_connects_at_once_has_no_error_in_its_status) {
    scripted_client all{{}, false};
    all.server->subscriptions_up = true;
    all.set_commands_up(true);
    auto const status = all.state->status();
    BOOST_TEST((status.state == holdfast::connection_state::connected));
    BOOST_TEST(!status.last_error);
    BOOST_TEST(status.last_error_text == "");
}

BOOST_AUTO_TEST_CASE(a_ready_that_was_cancelled_leaves_its_reason_in_the_status) {
    scripted_client all{{}, false};
    asio::cancellation_signal signal;
    told ready;
    all.state->ready(asio::bind_cancellation_slot(signal.slot(), ready.handler()));
    all.on_strand([&] { all.server->events->on_unconnected({}, errc::server_refused, "LOADING"); });
    signal.emit(asio::cancellation_type::terminal);
    all.run();
    BOOST_TEST((ready.error == asio::error::operation_aborted));
    BOOST_TEST((all.state->status().last_error == errc::server_refused));
}

BOOST_AUTO_TEST_CASE(acquisitions_that_wait_for_a_connection_are_reported_with_a_lock) {
    using holdfast::log_level;
    scripted_client all{{}, false};
    auto const fail = [&] {
        all.on_strand([&] { all.server->events->on_unconnected({}, errc::unreachable, "refused"); }
        );
    };
    fail();
    BOOST_TEST(all.log.count("waits for a connection") == 0U);
    acquiring const one{all};
    for (int i = 0; i < 100; ++i) {
        fail();
        all.pass(500ms);
    }
    // At once, and after 10 s and 30 s.
    constexpr auto single = "an acquisition of \"a\" waits for a connection: ";
    BOOST_TEST(all.log.count(log_level::warning, single) == 3U, all.log.all());
    acquiring const two{all};
    all.pass(1min);
    fail();
    constexpr auto several = "2 acquisitions wait for a connection, that of \"a\" first: ";
    BOOST_TEST(all.log.count(log_level::warning, several) == 1U, all.log.all());
    all.server->commands_up = true;
    fail();
    BOOST_TEST(all.log.count(log_level::warning, "for a connection") == 4U, all.log.all());
}

BOOST_AUTO_TEST_CASE(a_minute_of_refusals_for_twenty_locks_is_five_lines_that_name_locks) {
    using holdfast::log_level;
    scripted_client all;
    auto const refuse = [&](int lock) {
        auto const name = "order:" + std::to_string(lock);
        all.on_strand([&] {
            all.server->events->on_refused(
                {.permanent = false, .what = "lock.acquire", .key = name, .why = "OOM"}
            );
        });
    };
    for (int i = 0; i < 1'180; ++i) {
        refuse(i % 20);
        all.pass(50ms);
    }
    BOOST_TEST(all.log.count(log_level::warning) == 5U, all.log.all());
    BOOST_TEST(all.log.count("the server refused lock.acquire for \"order:2\": OOM") == 1U);
    BOOST_TEST(all.log.count("more times in 10 s, for 20 locks)") == 1U, all.log.all());
    // What was left out is not lost.
    all.state->shutdown([](error_code) {});
    all.run();
    BOOST_TEST(all.log.count(log_level::warning, "OOM") == 6U, all.log.all());
}

BOOST_AUTO_TEST_SUITE_END()
