// What the server's access rules and passwords do to a lock.

#include "support/log_lines.hpp"
#include "support/redis_probe.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <fstream>
#include <string>

using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace data = boost::unit_test::data;
using boost::system::error_code;
using holdfast::errc;
using holdfast::test::co_eventually;
using holdfast::test::log_lines;
using holdfast::test::redis_server;
using holdfast::test::run_with_deadline;
using steady = std::chrono::steady_clock;

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

// A server with the user "alice", password "secret", who has these rights.
redis_server server_for(std::string const& rights) {
    return redis_server{{.users = {"alice on >secret " + rights}}};
}

holdfast::config as_alice(redis_server const& server, std::string const& password = "secret") {
    auto settings = holdfast::parse_url(server.url());
    settings.username = "alice";
    settings.password = password;
    return settings;
}

bool ran_a_script(redis_server const& server) {
    auto const stats = server.probe().commandstats();
    return stats.contains("eval") || stats.contains("evalsha");
}

// The rule for ACL SETUSER that the README shows, from the first "on" to the end of its line.
std::string rights_in_the_readme() {
    std::ifstream in{std::string{HOLDFAST_SOURCE_DIR} + "/README.md"};
    std::string line;
    std::string const start = "ACL SETUSER app on >secret ";
    while (std::getline(in, line)) {
        if (line.starts_with(start)) {
            return line.substr(start.size());
        }
    }
    return {};
}

}  // namespace

// Each of these is refused before anything was written under the lock's key.
BOOST_DATA_TEST_CASE(
    fault_47_a_command_that_is_denied_fails_the_acquire_at_once,
    data::make(
        {"evalsha",
         "eval",
         "pttl",
         "set",
         "pexpire",
         "hdel",
         "exists",
         "time",
         "incr",
         "hset",
         "ping"}
    ),
    command
) {
    auto server = server_for(std::string{"~* &* +@all -"} + command);
    log_lines log;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        auto settings = as_alice(server);
        settings.log = log.sink();
        auto const start = steady::now();
        holdfast::client client{executor, settings};
        auto [ec, lease] = co_await client.lock("a").acquire(as_result);
        BOOST_TEST((ec == errc::no_permission), ec.message());
        BOOST_TEST(!holdfast::is_retryable(ec));
        BOOST_TEST((steady::now() - start < 5s));
        auto [again, none] = co_await client.lock("a").try_acquire(as_result);
        BOOST_TEST((again == errc::no_permission), again.message());
        BOOST_TEST(server.probe().lock_keys().empty());
    });
    BOOST_TEST(log.count(holdfast::log_level::error) > 0U);
}

// A client that knows its rights rehearses them no more. When they are taken away, what it has
// begun to write is taken back: a lock without an end would be nobody's for ever.
BOOST_AUTO_TEST_CASE(fault_47_a_right_that_is_taken_away_leaves_no_lock_behind) {
    auto server = server_for("~* &* +@all");
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, as_alice(server)};
        auto lease = co_await client.lock("a").acquire();
        co_await lease.release();
        server.probe().cmd("ACL", "SETUSER", "alice", "-pexpire");
        auto [ec, none] = co_await client.lock("a").acquire(as_result);
        BOOST_TEST((ec == errc::no_permission), ec.message());
        BOOST_TEST(server.probe().lock_keys().empty());
    });
}

// These two show only when somebody waits, or renews.
BOOST_AUTO_TEST_CASE(fault_47_a_renewal_that_is_denied_loses_the_lease_by_its_deadline) {
    auto server = server_for("~* &* +@all -hexists");
    log_lines log;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        auto settings = as_alice(server);
        settings.log = log.sink();
        holdfast::client client{executor, settings};
        auto lease = co_await client.lock("a").acquire({.lease = 1500ms});
        auto [renewed] = co_await lease.renew(as_result);
        BOOST_TEST((renewed == errc::no_permission), renewed.message());
        auto [ec, reason] = co_await lease.wait_lost(as_result);
        BOOST_TEST(!ec);
        BOOST_TEST((reason == holdfast::loss_reason::unreachable));
        BOOST_TEST(lease.remaining().count() > 0);
        auto [released] = co_await lease.release(as_result);
        BOOST_TEST((released == errc::lease_lost));
        BOOST_TEST(!server.probe().exists("a"));
    });
    BOOST_TEST(log.count(holdfast::log_level::error, "renew") > 0U);
}

BOOST_AUTO_TEST_CASE(fault_47_a_busy_lock_that_may_not_be_looked_at_fails_the_acquire) {
    auto server = server_for("~* &* +@all -hkeys");
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client holder{executor, server.url()};
        auto held = co_await holder.lock("a").acquire();
        holdfast::client client{executor, as_alice(server)};
        auto [ec, lease] = co_await client.lock("a").acquire(as_result);
        BOOST_TEST((ec == errc::no_permission), ec.message());
        BOOST_TEST(server.probe().exists("a"));
        co_await held.release();
    });
}

BOOST_DATA_TEST_CASE(
    fault_48_a_key_that_is_denied_fails_the_acquire_at_once,
    data::make(
        {"~other:*",
         "~a",
         "~redisson_lock_token:*",
         "~a ~redisson_lock_token:*",
         "%R~*",
         "resetkeys"}
    ),
    keys
) {
    auto server = server_for(std::string{"&* +@all "} + keys);
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        auto const start = steady::now();
        holdfast::client client{executor, as_alice(server)};
        auto [ec, lease] = co_await client.lock("a").acquire(as_result);
        BOOST_TEST((ec == errc::no_permission), ec.message());
        auto [tried, none] = co_await client.lock("a").try_acquire(as_result);
        BOOST_TEST((tried == errc::no_permission), tried.message());
        BOOST_TEST((steady::now() - start < 5s));
        BOOST_TEST(server.probe().keys().empty());

        // Somebody else's lock neither.
        holdfast::client other{executor, server.url()};
        auto held = co_await other.lock("a").acquire();
        auto [busy, nothing] = co_await client.lock("a").acquire(as_result);
        BOOST_TEST((busy == errc::no_permission), busy.message());
        auto [forced, freed] = co_await client.lock("a").force_release(as_result);
        BOOST_TEST((forced == errc::no_permission), forced.message());
        BOOST_TEST(server.probe().exists("a"));
        co_await held.release(as_result);
    });
}

BOOST_AUTO_TEST_CASE(fault_48_a_denied_key_leaves_other_locks_alone) {
    auto server =
        server_for("~mine* ~redisson_lock_token:{mine* ~redisson_lock__channel:{mine* &* +@all");
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, as_alice(server)};
        auto lease = co_await client.lock("mine").acquire();
        auto [ec, none] = co_await client.lock("other").acquire(as_result);
        BOOST_TEST((ec == errc::no_permission));
        BOOST_TEST(lease.valid());
        co_await lease.renew();
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(fault_49_a_channel_that_is_denied_fails_those_who_would_wait) {
    auto server = server_for("~* resetchannels +@all");
    log_lines log;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        auto settings = as_alice(server);
        settings.log = log.sink();
        holdfast::client client{executor, settings};
        holdfast::client other{executor, server.url()};

        // Nobody has to wait for a free lock.
        auto lease = co_await client.lock("free").acquire();
        auto held = co_await other.lock("a").acquire();
        for (int i = 0; i < 3; ++i) {
            auto const start = steady::now();
            auto [ec, none] = co_await client.lock("a").acquire(as_result);
            BOOST_TEST((ec == errc::no_permission), ec.message());
            BOOST_TEST((steady::now() - start < 5s));
        }
        auto busy = co_await client.lock("a").try_acquire();
        BOOST_TEST(!busy);
        // The refusal did not disturb the answers to anything else.
        BOOST_TEST(lease.valid());
        BOOST_TEST(held.valid());
        BOOST_TEST(client.stats().reconnects == 0U);
        BOOST_TEST(client.stats().subscriptions_now == 0U);
        co_await lease.release();
        co_await held.release();
        auto free = co_await client.lock("a").acquire();
        co_await free.release();
    });
    BOOST_TEST(log.count(holdfast::log_level::error, "subscription") > 0U);
}

// Nobody can be told, so a waiter elsewhere looks again when the holder's lease would have ended.
BOOST_AUTO_TEST_CASE(fault_50_a_release_that_may_not_publish_succeeds_and_is_counted) {
    for (auto const* rights : {"~* &* +@all -publish", "~* resetchannels +@all"}) {
        auto server = server_for(rights);
        run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
            holdfast::client client{executor, as_alice(server)};
            holdfast::client other{executor, server.url()};
            auto held = co_await client.lock("a").acquire({.lease = 2s, .renew = false});
            holdfast::lease remote;
            other.lock("a").acquire([&](error_code, holdfast::lease granted) {
                remote = std::move(granted);
            });
            BOOST_TEST(co_await co_eventually(1s, [&] { return other.stats().refusals == 2; }));

            auto [ec] = co_await held.release(as_result);
            BOOST_TEST(!ec, ec.message());
            BOOST_TEST(client.stats().refused_notices == 1U);
            BOOST_TEST(client.stats().releases == 1U);
            BOOST_TEST(!server.probe().exists("a"));
            BOOST_TEST(co_await co_eventually(3s, [&] { return bool(remote); }));
            co_await remote.release();
        });
    }
}

BOOST_AUTO_TEST_CASE(fault_50_a_local_waiter_needs_no_message) {
    auto server = server_for("~* &* +@all -publish");
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, as_alice(server)};
        auto held = co_await client.lock("a").acquire({.lease = 1h});
        holdfast::lease next;
        client.lock("a").acquire([&](error_code, holdfast::lease granted) {
            next = std::move(granted);
        });
        BOOST_TEST(co_await co_eventually(1s, [&] { return client.stats().refusals == 2; }));
        co_await held.release();
        BOOST_TEST(co_await co_eventually(1s, [&] { return bool(next); }));
        co_await next.release();
        BOOST_TEST(client.stats().refused_notices == 2U);
    });
}

// S19: what is sent before the log-in was answered would run as the user "default", who may do
// everything here.
BOOST_AUTO_TEST_CASE(fault_51_a_wrong_password_fails_at_once_and_nothing_runs_as_somebody_else) {
    auto server = server_for("~* &* +@all");
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
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
        co_await holdfast::test::sleep_for(500ms);
    });
    BOOST_TEST(!ran_a_script(server));
    BOOST_TEST(!server.probe().commandstats().contains("subscribe"));
    BOOST_TEST(server.probe().keys().empty());
}

BOOST_AUTO_TEST_CASE(fault_51_a_missing_password_fails_at_once) {
    redis_server server{{.password = "secret"}};
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
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
    });
}

BOOST_AUTO_TEST_CASE(fault_51_a_user_that_does_not_exist_or_is_switched_off_fails_at_once) {
    redis_server server{{.users = {"alice off >secret ~* &* +@all"}}};
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        auto settings = as_alice(server);
        holdfast::client off{executor, settings};
        auto [ec, lease] = co_await off.lock("a").acquire(as_result);
        BOOST_TEST((ec == errc::auth_failed), ec.message());
        settings.username = "nobody";
        holdfast::client nobody{executor, settings};
        auto [unknown, none] = co_await nobody.lock("a").acquire(as_result);
        BOOST_TEST((unknown == errc::auth_failed), unknown.message());
    });
}

BOOST_AUTO_TEST_CASE(fault_52_a_user_who_is_deleted_loses_leases_by_their_deadline) {
    auto server = server_for("~* &* +@all");
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        auto settings = as_alice(server);
        settings.lease = 3s;
        // The time between the notice and the deadline, which a busy machine may need.
        settings.notice = 1.0 / 3;
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
        BOOST_TEST((lease.state() == holdfast::lease_state::in_doubt));
        auto const deadline = lease.deadline();
        auto [ec, reason] = co_await lease.wait_lost(as_result);
        BOOST_TEST(!ec);
        BOOST_TEST((reason == holdfast::loss_reason::unreachable));
        BOOST_TEST((holdfast::lease_clock::now() < deadline));
        auto [refused, none] = co_await client.lock("c").acquire(as_result);
        BOOST_TEST((refused == errc::auth_failed), refused.message());

        // Mended: the client needs no restart.
        server.probe().cmd("ACL", "SETUSER", "alice", "on", ">secret", "~*", "&*", "+@all");
        co_await theirs.release();
        error_code last = errc::auth_failed;
        for (int i = 0; last && i < 100; ++i) {
            co_await holdfast::test::sleep_for(100ms);
            auto [again, granted] = co_await client.lock("c").acquire(as_result);
            last = again;
        }
        BOOST_TEST(!last, last.message());
    });
}

BOOST_AUTO_TEST_CASE(fault_52_a_password_that_is_changed_shows_at_the_next_connection) {
    auto server = server_for("~* &* +@all");
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, as_alice(server)};
        auto lease = co_await client.lock("a").acquire({.lease = 2s});
        server.probe().cmd("ACL", "SETUSER", "alice", "resetpass", ">changed");
        // The connections that are there go on.
        co_await lease.renew();
        server.probe().client_kill_type("normal");
        auto [ec, reason] = co_await lease.wait_lost(as_result);
        BOOST_TEST((reason == holdfast::loss_reason::unreachable));
        auto [refused, none] = co_await client.lock("b").acquire(as_result);
        BOOST_TEST((refused == errc::auth_failed), refused.message());
    });
}

BOOST_AUTO_TEST_CASE(fault_53_a_key_of_another_type_is_reported_and_not_touched) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, server.url()};
        auto probe = server.probe();
        probe.set("string", "mine");
        probe.cmd("RPUSH", "list", "mine");
        probe.cmd("SADD", "set", "mine");
        for (auto const* name : {"string", "list", "set"}) {
            auto const before = probe.cmd("DUMP", name);
            auto const lock = client.lock(name);
            auto [acquired, lease] = co_await lock.acquire(as_result);
            BOOST_TEST((acquired == errc::corrupt_state), acquired.message());
            auto [tried, none] = co_await lock.try_acquire(as_result);
            BOOST_TEST((tried == errc::corrupt_state), tried.message());
            auto [limited, nothing] = co_await lock.try_acquire_for(1s, as_result);
            BOOST_TEST((limited == errc::corrupt_state), limited.message());
            auto [seen, info] = co_await lock.inspect(as_result);
            BOOST_TEST((seen == errc::corrupt_state), seen.message());
            auto [forced, freed] = co_await lock.force_release(as_result);
            BOOST_TEST((forced == errc::corrupt_state), forced.message());
            BOOST_TEST(!freed);
            BOOST_TEST((probe.cmd("DUMP", name) == before));
            BOOST_TEST(probe.pttl(name) == -1);
        }
        BOOST_TEST(probe.keys() == (std::vector<std::string>{"list", "set", "string"}));
    });
}

BOOST_AUTO_TEST_CASE(fault_53_a_token_counter_of_another_type_is_reported_and_nothing_written) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, server.url()};
        auto probe = server.probe();
        probe.cmd("RPUSH", "redisson_lock_token:{list}", "mine");
        probe.set("redisson_lock_token:{word}", "not a number");
        for (auto const* name : {"list", "word"}) {
            auto [ec, lease] = co_await client.lock(name).acquire(as_result);
            BOOST_TEST((ec == errc::corrupt_state), ec.message());
            BOOST_TEST(!probe.exists(name));
        }
    });
}

BOOST_AUTO_TEST_CASE(fault_53_a_key_that_changes_its_type_while_held_loses_the_lease) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, server.url()};
        auto probe = server.probe();
        auto lease = co_await client.lock("a").acquire();
        probe.set("a", "mine");
        auto [renewed] = co_await lease.renew(as_result);
        BOOST_TEST((renewed == errc::lease_lost), renewed.message());
        auto [released] = co_await lease.release(as_result);
        BOOST_TEST((released == errc::lease_lost), released.message());
        BOOST_TEST(probe.get("a").value() == "mine");
    });
}

BOOST_AUTO_TEST_CASE(show_12_the_rights_in_the_readme_suffice_for_everything) {
    auto const rights = rights_in_the_readme();
    BOOST_REQUIRE(!rights.empty());
    auto server = server_for(rights);
    log_lines log;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        auto settings = as_alice(server);
        settings.key_prefix = "app:";
        settings.log = log.sink();
        holdfast::client client{executor, settings};
        holdfast::client second{executor, settings};
        co_await client.ready();
        auto const name = "stock:7";

        auto lease = co_await client.lock(name).acquire({.lease = 1s});
        co_await lease.renew();
        co_await holdfast::test::sleep_for(1500ms);
        BOOST_TEST(lease.valid());
        auto busy = co_await second.lock(name).try_acquire();
        BOOST_TEST(!busy);
        holdfast::lease waiter;
        second.lock(name).acquire({.lease = 1h}, [&](error_code ec, holdfast::lease granted) {
            BOOST_TEST(!ec, ec.message());
            waiter = std::move(granted);
        });
        BOOST_TEST(co_await co_eventually(2s, [&] { return second.stats().refusals == 3; }));
        auto const held = co_await client.lock(name).inspect();
        BOOST_TEST(held.held);
        BOOST_TEST(held.last_token.value == lease.token().value);
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(500ms, [&] { return bool(waiter); }));

        BOOST_TEST(co_await client.lock(name).force_release());
        auto [renewed] = co_await waiter.renew(as_result);
        BOOST_TEST((renewed == errc::lease_lost));
        auto [released] = co_await waiter.release(as_result);
        BOOST_TEST((released == errc::lease_lost));

        server.probe().script_flush();
        lease = co_await client.lock(name).acquire();
        co_await lease.release();
        BOOST_TEST(client.stats().refused_notices + second.stats().refused_notices == 0U);
        co_await holdfast::test::sleep_for(700ms);  // unsubscribes
        BOOST_TEST(second.stats().subscriptions_now == 0U);
        co_await client.shutdown();
        co_await second.shutdown();
    });
    BOOST_TEST(log.count(holdfast::log_level::error) == 0U, log.all());
}

// A program has its own part of the key space, and nothing else.
BOOST_AUTO_TEST_CASE(show_12_the_rights_in_the_readme_end_at_the_prefix) {
    auto const rights = rights_in_the_readme();
    BOOST_REQUIRE(!rights.empty());
    auto server = server_for(rights);
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, as_alice(server)};
        auto [ec, lease] = co_await client.lock("stock:7").acquire(as_result);
        BOOST_TEST((ec == errc::no_permission), ec.message());
        BOOST_TEST(server.probe().keys().empty());
    });
}
