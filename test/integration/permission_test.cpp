// What the server's access rules and passwords do to a lock.

#include "support/one_server.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <fstream>
#include <string>

using namespace holdfast::test;
namespace data = boost::unit_test::data;
using steady = std::chrono::steady_clock;

namespace {

// The rule for ACL SETUSER that the page on the Redis user shows, from the first "on" to the end of
// its line.
std::string rights_in_the_documentation() {
    std::ifstream in{std::string{HOLDFAST_SOURCE_DIR} + "/src/reference/pages/redis_user.md"};
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
    a_command_that_is_denied_fails_the_acquire_at_once,
    data::make(
        {"evalsha", "eval", "pttl", "set", "pexpire", "hdel", "incr -incrby", "time", "hset", "ping"
        }
    ),
    command
) {
    log_lines log;
    with_alice(
        std::string{"~* &* +@all -"} + command,
        [&](redis_server& server, asio::any_io_executor executor) -> task {
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
        }
    );
    BOOST_TEST(log.count(log_level::error) > 0U);
}

// A client that has tried its rights once does not try them again. When one is taken away, the
// script undoes what it has written: a lock without an expiry would never be free again.
BOOST_AUTO_TEST_CASE(a_right_that_is_taken_away_leaves_no_lock_behind) {
    with_alice("~* &* +@all", [&](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, as_alice(server)};
        auto lease = co_await client.lock("a").acquire();
        co_await lease.release();
        server.probe().cmd("ACL", "SETUSER", "alice", "-pexpire");
        auto [ec, none] = co_await client.lock("a").acquire(as_result);
        BOOST_TEST((ec == errc::no_permission), ec.message());
        BOOST_TEST(server.probe().lock_keys().empty());
    });
}

// Its lease is longer than what is left of the other reader's, so that the lock's end is moved.
BOOST_AUTO_TEST_CASE(a_right_that_is_taken_away_leaves_no_reader_beside_others) {
    with_alice("~* &* +@all", [&](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client other{executor, server.url()};
        holdfast::client client{executor, as_alice(server)};
        auto reading = co_await client.read_write_lock("a").read().acquire();
        co_await reading.release();
        auto others = co_await other.read_write_lock("a").read().acquire({.lease = 10s});
        auto const before = server.probe().lock_keys();
        server.probe().cmd("ACL", "SETUSER", "alice", "-pexpire");
        auto [ec, none] = co_await client.read_write_lock("a").read().acquire(as_result);
        BOOST_TEST((ec == errc::no_permission), ec.message());
        BOOST_TEST(server.probe().lock_keys() == before, boost::test_tools::per_element());
        co_await others.release();
        auto const writing = co_await other.read_write_lock("a").write().try_acquire();
        BOOST_TEST(!!writing);
    });
}

// These two show only when somebody waits, or renews.
BOOST_AUTO_TEST_CASE(a_renewal_that_is_denied_loses_the_lease_by_its_deadline) {
    log_lines log;
    with_alice(
        "~* &* +@all -hexists",
        [&](redis_server& server, asio::any_io_executor executor) -> task {
            auto settings = as_alice(server);
            settings.log = log.sink();
            holdfast::client client{executor, settings};
            auto lease = co_await client.lock("a").acquire({.lease = 1500ms});
            auto [renewed] = co_await lease.renew(as_result);
            BOOST_TEST((renewed == errc::no_permission), renewed.message());
            auto [ec, reason] = co_await lease.wait_lost(as_result);
            BOOST_TEST(!ec);
            BOOST_TEST((reason == loss_reason::unreachable));
            BOOST_TEST(lease.remaining().count() > 0);
            auto [released] = co_await lease.release(as_result);
            BOOST_TEST((released == errc::lease_lost));
            BOOST_TEST(!server.probe().exists("a"));
        }
    );
    BOOST_TEST(log.count(log_level::error, "renew") > 0U);
}

BOOST_AUTO_TEST_CASE(a_busy_lock_that_may_not_be_looked_at_fails_the_acquire) {
    with_alice(
        "~* &* +@all -hkeys",
        [&](redis_server& server, asio::any_io_executor executor) -> task {
            holdfast::client holder{executor, server.url()};
            auto held = co_await holder.lock("a").acquire();
            holdfast::client client{executor, as_alice(server)};
            auto [ec, lease] = co_await client.lock("a").acquire(as_result);
            BOOST_TEST((ec == errc::no_permission), ec.message());
            BOOST_TEST(server.probe().exists("a"));
            co_await held.release();
        }
    );
}

namespace {

void check_that_the_acquire_fails_at_once(std::string const& keys) {
    with_alice(
        "&* +@all " + keys,
        [&](redis_server& server, asio::any_io_executor executor) -> task {
            auto const start = steady::now();
            holdfast::client client{executor, as_alice(server)};
            auto [ec, lease] = co_await client.lock("a").acquire(as_result);
            BOOST_TEST((ec == errc::no_permission), ec.message());
            auto [tried, none] = co_await client.lock("a").try_acquire(as_result);
            BOOST_TEST((tried == errc::no_permission), tried.message());
            BOOST_TEST((steady::now() - start < 5s));
            BOOST_TEST(server.probe().keys().empty());

            // Nor may it touch a lock that another client has.
            holdfast::client other{executor, server.url()};
            auto held = co_await other.lock("a").acquire();
            auto [busy, nothing] = co_await client.lock("a").acquire(as_result);
            BOOST_TEST((busy == errc::no_permission), busy.message());
            auto [forced, freed] = co_await client.lock("a").force_release(as_result);
            BOOST_TEST((forced == errc::no_permission), forced.message());
            BOOST_TEST(server.probe().exists("a"));
            co_await held.release(as_result);
        }
    );
}

}  // namespace

BOOST_DATA_TEST_CASE(
    a_key_that_is_denied_fails_the_acquire_at_once,
    data::make(
        {"~other:*", "~a", "~redisson_lock_token:*", "~a ~redisson_lock_token:*", "resetkeys"}
    ),
    keys
) {
    check_that_the_acquire_fails_at_once(keys);
}

BOOST_AUTO_TEST_CASE(keys_that_may_only_be_read_fail_the_acquire_at_once, *needs_version_7()) {
    check_that_the_acquire_fails_at_once("%R~*");
}

BOOST_AUTO_TEST_CASE(a_denied_key_leaves_other_locks_alone) {
    with_alice(
        "~mine* ~redisson_lock_token:{mine* ~redisson_lock__channel:{mine* &* +@all",
        [&](redis_server& server, asio::any_io_executor executor) -> task {
            holdfast::client client{executor, as_alice(server)};
            auto lease = co_await client.lock("mine").acquire();
            auto [ec, none] = co_await client.lock("other").acquire(as_result);
            BOOST_TEST((ec == errc::no_permission));
            BOOST_TEST(lease.valid());
            co_await lease.renew();
            co_await lease.release();
        }
    );
}

BOOST_AUTO_TEST_CASE(a_channel_that_is_denied_fails_those_who_would_wait) {
    log_lines log;
    with_alice(
        "~* resetchannels +@all",
        [&](redis_server& server, asio::any_io_executor executor) -> task {
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
        }
    );
    BOOST_TEST(log.count(log_level::error, "subscription") > 0U);
}

// Nobody is notified: a waiter elsewhere tries again when the holder's lease would have ended.
BOOST_AUTO_TEST_CASE(a_release_that_may_not_publish_succeeds_and_is_counted) {
    for (auto const* rights : {"~* &* +@all -publish", "~* resetchannels +@all"}) {
        with_alice(rights, [&](redis_server& server, asio::any_io_executor executor) -> task {
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
            BOOST_TEST(client.stats().refused_notifications == 1U);
            BOOST_TEST(client.stats().releases == 1U);
            BOOST_TEST(!server.probe().exists("a"));
            BOOST_TEST(co_await co_eventually(3s, [&] { return bool(remote); }));
            co_await remote.release();
        });
    }
}

// The right is taken away between the acquisition and the release.
BOOST_AUTO_TEST_CASE(a_release_that_may_not_publish_logs_which_permission_is_missing) {
    log_lines log;
    with_alice("~* &* +@all", [&](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = as_alice(server);
        settings.log = log.sink();
        holdfast::client client{executor, settings};
        holdfast::client voter{executor, settings};
        holdfast::client collector{executor, settings};
        holdfast::client operators{executor, settings};
        holdfast::client other{executor, server.url()};
        co_await operators.ready();
        auto lock = co_await client.lock("lock").acquire();
        auto fair = co_await client.fair_lock("fair").acquire();
        auto const both = client.read_write_lock("read");
        auto read = co_await both.read().acquire();
        auto const sides = client.read_write_lock("write");
        auto write = co_await sides.write().acquire();
        auto const pool = client.semaphore("pool");
        co_await pool.try_set_permits(1);
        auto permit = co_await pool.acquire();
        auto const gate = client.latch("gate");
        co_await gate.try_set(1);
        auto const election = voter.election("election");
        auto leading = co_await election.campaign("me");
        holdfast::multi_lock const pair{collector.lock("x"), collector.lock("y")};
        auto of_both = co_await pair.acquire();
        auto forced = co_await other.lock("forced").acquire({.lease = 1h});
        other.fair_lock("fair").acquire([](error_code, holdfast::lease) {});
        BOOST_TEST(co_await co_eventually(2s, [&] { return other.stats().refusals >= 2; }));
        server.probe().cmd("ACL", "SETUSER", "alice", "-publish");

        auto const check = [&](std::string const& name, std::string const& rights) {
            auto const line =
                "the lock \"" + name + "\" was freed, but its waiters were not notified";
            BOOST_TEST(log.count(log_level::error, line) == 1U, log.all());
            BOOST_TEST(log.count(log_level::error, "+publish, " + rights) >= 1U, log.all());
        };
        co_await lock.release();
        check("lock", "&redisson_lock__channel:{lock}, &holdfast_client:*");
        co_await fair.release();
        check("fair", "&redisson_lock__channel:{fair}:*");
        co_await read.release();
        check("read", "&redisson_rwlock:{read}");
        co_await write.release();
        check("write", "&redisson_rwlock:{write}");
        co_await permit.release();
        check("pool", "&redisson_sc:{pool}, &holdfast_semaphore_turns:{pool}");
        co_await gate.count_down();
        check("gate", "&redisson_countdownlatch__channel__{gate}");
        co_await leading.resign();
        check("election", "&redisson_lock__channel:{election}");
        co_await of_both.release();
        BOOST_TEST(log.count(log_level::error, "the lock \"x\" was freed") == 1U);
        BOOST_TEST(log.count(log_level::error, "the lock \"y\" was freed") == 1U);
        BOOST_TEST(collector.stats().refused_notifications == 2U);
        BOOST_TEST(co_await operators.lock("forced").force_release());
        check("forced", "&redisson_lock__channel:{forced}");
    });
}

// A semaphore's waiters are told on a channel of its own whose turn it is. They ask again soon
// anyway.
BOOST_AUTO_TEST_CASE(a_turn_of_a_semaphore_that_may_not_be_published_is_logged) {
    log_lines log;
    with_alice("~* &* +@all", [&](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = as_alice(server);
        settings.log = log.sink();
        holdfast::client client{executor, settings};
        holdfast::client second{executor, settings};
        holdfast::client third{executor, settings};
        holdfast::client other{executor, server.url()};
        auto held = co_await client.semaphore("a").limit(1).acquire();
        holdfast::lease next;
        other.semaphore("a").acquire([&](error_code, holdfast::lease granted) {
            next = std::move(granted);
        });
        BOOST_TEST(co_await co_eventually(2s, [&] { return other.stats().refusals >= 1; }));
        server.probe().cmd("ACL", "SETUSER", "alice", "resetchannels", "&redisson_sc:*");

        co_await held.release();
        BOOST_TEST(client.stats().refused_notifications == 1U);
        BOOST_TEST(log.count(log_level::error, "&holdfast_semaphore_turns:{a}") == 1U, log.all());
        BOOST_TEST(log.count(log_level::error, "a quarter of config::waiter_patience") == 1U);
        BOOST_TEST(co_await co_eventually(1s, [&] { return bool(next); }));
        co_await next.release();

        // One who finds an expired permit frees it for those who came before it.
        server.probe().cmd("SET", "b", 0);
        server.probe().cmd("ZADD", "{b}:timeout", 1, "0123456789abcdef");
        server.probe().cmd("ZADD", "holdfast_semaphore_queue:{b}", 1, "1 java:1");
        server.probe().cmd("ZADD", "holdfast_semaphore_heard:{b}", "9007199254740", "1 java:1");
        auto const none = co_await second.semaphore("b").try_acquire();
        BOOST_TEST(!none);
        BOOST_TEST(second.stats().refused_notifications == 1U);
        // So does one who states the number.
        server.probe().cmd("DEL", "b");
        co_await third.semaphore("b").try_set_permits(3);
        BOOST_TEST(third.stats().refused_notifications == 1U);
        BOOST_TEST(log.count(log_level::error, "&holdfast_semaphore_turns:{b}") == 2U, log.all());
    });
}

// What is left of a hold that lost a permit is given back by its renewal.
BOOST_AUTO_TEST_CASE(a_renewal_that_may_not_publish_logs_which_permission_is_missing) {
    log_lines log;
    with_alice("~* &* +@all", [&](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = as_alice(server);
        settings.log = log.sink();
        holdfast::client client{executor, settings};
        auto held = co_await client.semaphore("a").limit(2).permits(2).acquire();
        auto probe = server.probe();
        probe.cmd("ZREMRANGEBYRANK", "{a}:timeout", 0, 0);
        probe.cmd("INCR", "a");
        probe.cmd("ACL", "SETUSER", "alice", "-publish");
        auto const ec = co_await renew(held);
        BOOST_TEST((ec == errc::lease_lost), ec.message());
        BOOST_TEST(probe.get("a").value() == "2");
        BOOST_TEST(client.stats().refused_notifications == 1U);
        BOOST_TEST(
            log.count(
                log_level::error,
                "+publish, &redisson_sc:{a}, &holdfast_semaphore_turns:{a}"
            ) == 1U,
            log.all()
        );
    });
}

// Its queue is of no use then: all that wait are woken by the message for those that do not queue.
BOOST_AUTO_TEST_CASE(a_hand_over_that_may_not_be_published_wakes_the_waiter_all_the_same) {
    log_lines log;
    with_alice("~* &* +@all", [&](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = as_alice(server);
        settings.log = log.sink();
        holdfast::client client{executor, settings};
        holdfast::client other{executor, server.url()};
        auto held = co_await client.lock("a").acquire({.lease = 1h});
        holdfast::lease next;
        other.lock("a").acquire([&](error_code, holdfast::lease granted) {
            next = std::move(granted);
        });
        BOOST_TEST(co_await co_eventually(2s, [&] { return other.stats().refusals == 2; }));
        server.probe().cmd(
            "ACL",
            "SETUSER",
            "alice",
            "resetchannels",
            "&redisson_lock__channel:*",
            "&holdfast_waiters:*"
        );
        co_await held.release();
        BOOST_TEST(co_await co_eventually(2s, [&] { return bool(next); }));
        BOOST_TEST(client.stats().refused_notifications == 1U);
        BOOST_TEST(log.count(log_level::error, "&holdfast_client:*") == 1U, log.all());
    });
}

BOOST_AUTO_TEST_CASE(a_local_waiter_needs_no_message) {
    with_alice(
        "~* &* +@all -publish",
        [&](redis_server& server, asio::any_io_executor executor) -> task {
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
            BOOST_TEST(client.stats().refused_notifications == 2U);
        }
    );
}

BOOST_AUTO_TEST_CASE(the_rights_in_the_documentation_suffice_for_everything) {
    auto const rights = rights_in_the_documentation();
    BOOST_REQUIRE(!rights.empty());
    log_lines log;
    with_alice(rights, [&](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = as_alice(server);
        settings.key_prefix = "app:";
        settings.log = log.sink();
        holdfast::client client{executor, settings};
        holdfast::client second{executor, settings};
        co_await client.ready();
        auto const name = "stock:7";

        auto lease = co_await client.lock(name).acquire({.lease = 1s});
        co_await lease.renew();
        co_await sleep_for(1500ms);
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
        for (int i = 0; i < 2; ++i) {
            lease = co_await client.lock(name).acquire({.lease = holdfast::learned});
            co_await lease.release();
        }
        BOOST_TEST(server.probe().exists("holdfast_hold:{app:stock:7}"));
        BOOST_TEST(
            client.stats().refused_notifications + second.stats().refused_notifications == 0U
        );
        co_await sleep_for(700ms);  // unsubscribes
        BOOST_TEST(second.stats().subscriptions_now == 0U);
        co_await client.shutdown();
        co_await second.shutdown();
    });
    BOOST_TEST(log.count(log_level::error) == 0U, log.all());
}

// Those of a version that had no learned leases.
BOOST_AUTO_TEST_CASE(without_the_right_to_learn_the_lease_is_that_of_the_configuration) {
    auto const of_all =
        std::string{"~a ~redisson_lock_token:* ~redisson_lock__channel:* ~holdfast_queue:* &* +@all"
        };
    for (auto const& rights :
         {of_all, std::string{"~a ~redisson_lock_token:* &* +@all"} + " ~redisson_lock__channel:*"
         }) {
        log_lines log;
        with_alice(rights, [&](redis_server& server, asio::any_io_executor executor) -> task {
            auto settings = as_alice(server);
            settings.log = log.sink();
            holdfast::client client{executor, settings};
            acquire_options const learning{.lease = holdfast::learned};
            for (int i = 0; i < 3; ++i) {
                auto lease = co_await client.lock("a").acquire(learning);
                BOOST_TEST(server.probe().pttl("a") > 29'000);
                auto [released] = co_await lease.release(as_result);
                BOOST_TEST(!released, released.message());
            }
            BOOST_TEST(!server.probe().exists("holdfast_hold:{a}"));
            BOOST_TEST(client.stats().reconnects == 0U);
        });
        BOOST_TEST(log.count(log_level::warning, "learned leases") == 1U, log.all());
        BOOST_TEST(log.count(log_level::error) == 0U, log.all());
    }
}

// The right is taken away while the lock is held.
BOOST_AUTO_TEST_CASE(a_release_goes_on_without_what_it_may_not_tell) {
    with_alice("~* &* +@all", [&](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, as_alice(server)};
        auto lease = co_await client.lock("a").acquire({.lease = holdfast::learned});
        server.probe()
            .cmd("ACL", "SETUSER", "alice", "resetkeys", "~a", "~redisson*", "~holdfast_queue*");
        auto [released] = co_await lease.release(as_result);
        BOOST_TEST(!released, released.message());
        BOOST_TEST(!server.probe().exists("a"));
    });
}

// A program has its own part of the key space, and nothing else.
BOOST_AUTO_TEST_CASE(the_rights_in_the_documentation_end_at_the_prefix) {
    auto const rights = rights_in_the_documentation();
    BOOST_REQUIRE(!rights.empty());
    with_alice(rights, [&](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, as_alice(server)};
        auto [ec, lease] = co_await client.lock("stock:7").acquire(as_result);
        BOOST_TEST((ec == errc::no_permission), ec.message());
        BOOST_TEST(server.probe().keys().empty());
    });
}
