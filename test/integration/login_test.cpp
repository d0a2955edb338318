// Passwords and users: nothing is sent before the log-in is answered, and a client that may not log
// in says so at once.

#include "support/one_server.hpp"

using namespace holdfast::test;
using steady = std::chrono::steady_clock;

// What is sent before the log-in was answered would run as the user "default", who may do
// everything here.
BOOST_AUTO_TEST_CASE(a_wrong_password_fails_at_once_and_nothing_runs_as_somebody_else) {
    with_alice("~* &* +@all", [&](redis_server& server, asio::any_io_executor executor) -> task {
        auto const start = steady::now();
        {
            holdfast::client client{executor, as_alice(server, "wrong")};
            auto [ec, lease] = co_await client.lock("a").acquire(as_result);
            BOOST_TEST((ec == errc::auth_failed), ec.message());
            auto [ready] = co_await client.ready(as_result);
            BOOST_TEST((ready == errc::auth_failed), ready.message());
            auto [seen, info] = co_await client.lock("a").inspect(as_result);
            BOOST_TEST((seen == errc::auth_failed), seen.message());
        }
        holdfast::client client{executor, as_alice(server, "wrong")};
        auto [ready] = co_await client.ready(as_result);
        BOOST_TEST((ready == errc::auth_failed), ready.message());
        BOOST_TEST((steady::now() - start < 5s));
        co_await sleep_for(500ms);
        auto probe = server.probe();
        BOOST_TEST(probe.lock_commands() == 0);
        BOOST_TEST(probe.keys().empty());
    });
}

BOOST_AUTO_TEST_CASE(a_missing_password_fails_at_once) {
    with_server(
        {.password = "secret"},
        [](redis_server& server, asio::any_io_executor executor) -> task {
            auto const start = steady::now();
            holdfast::client client{executor, server.url()};
            auto [ec, lease] = co_await client.lock("a").acquire(as_result);
            BOOST_TEST((ec == errc::auth_failed), ec.message());
            auto [ready] = co_await client.ready(as_result);
            BOOST_TEST((ready == errc::auth_failed), ready.message());
            BOOST_TEST((steady::now() - start < 5s));

            auto settings = holdfast::parse_url(server.url());
            settings.password = "secret";
            holdfast::client good{executor, settings};
            auto granted = co_await good.lock("a").acquire();
            co_await granted.release();
        }
    );
}

BOOST_AUTO_TEST_CASE(a_user_that_does_not_exist_or_is_switched_off_fails_at_once) {
    with_server(
        {.users = {"alice off >secret ~* &* +@all"}},
        [](redis_server& server, asio::any_io_executor executor) -> task {
            auto settings = as_alice(server);
            holdfast::client off{executor, settings};
            auto [ec, lease] = co_await off.lock("a").acquire(as_result);
            BOOST_TEST((ec == errc::auth_failed), ec.message());
            settings.username = "nobody";
            holdfast::client nobody{executor, settings};
            auto [unknown, none] = co_await nobody.lock("a").acquire(as_result);
            BOOST_TEST((unknown == errc::auth_failed), unknown.message());
        }
    );
}

BOOST_AUTO_TEST_CASE(a_user_who_is_deleted_loses_leases_by_their_deadline) {
    with_alice("~* &* +@all", [&](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = as_alice(server);
        settings.lease = 3s;
        // The time between the loss and the deadline, which a busy machine may need.
        settings.loss_margin = 1.0 / 3;
        holdfast::client client{executor, settings};
        holdfast::client other{executor, server.url()};
        auto lease = co_await client.lock("a").acquire();
        auto theirs = co_await other.lock("b").acquire();
        error_code waiter_told;
        bool waiter_done = false;
        client.lock("b").acquire([&](error_code ec, holdfast::lease) {
            waiter_told = ec;
            waiter_done = true;
        });
        BOOST_TEST(co_await co_eventually(1s, [&] { return client.stats().refusals == 2; }));

        server.probe().cmd("ACL", "DELUSER", "alice");
        BOOST_TEST(co_await co_eventually(1s, [&] { return waiter_done; }));
        BOOST_TEST((waiter_told == errc::auth_failed), waiter_told.message());
        BOOST_TEST((lease.state() == lease_state::in_doubt));
        auto const deadline = lease.deadline();
        auto [ec, reason] = co_await lease.wait_lost(as_result);
        BOOST_TEST(!ec);
        BOOST_TEST((reason == loss_reason::unreachable));
        BOOST_TEST((lease_clock::now() < deadline));
        auto [refused, none] = co_await client.lock("c").acquire(as_result);
        BOOST_TEST((refused == errc::auth_failed), refused.message());

        // Mended: the client needs no restart.
        server.probe().cmd("ACL", "SETUSER", "alice", "on", ">secret", "~*", "&*", "+@all");
        co_await theirs.release();
        error_code last = errc::auth_failed;
        for (int i = 0; last && i < 100; ++i) {
            co_await sleep_for(100ms);
            auto [again, granted] = co_await client.lock("c").acquire(as_result);
            last = again;
        }
        BOOST_TEST(!last, last.message());
    });
}

BOOST_AUTO_TEST_CASE(a_password_that_is_changed_shows_at_the_next_connection) {
    with_alice("~* &* +@all", [&](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, as_alice(server)};
        auto lease = co_await client.lock("a").acquire({.lease = 2s});
        server.probe().cmd("ACL", "SETUSER", "alice", "resetpass", ">changed");
        // The connections that are there go on.
        co_await lease.renew();
        server.probe().client_kill_type("normal");
        auto [ec, reason] = co_await lease.wait_lost(as_result);
        BOOST_TEST((reason == loss_reason::unreachable));
        auto [refused, none] = co_await client.lock("b").acquire(as_result);
        BOOST_TEST((refused == errc::auth_failed), refused.message());
    });
}
