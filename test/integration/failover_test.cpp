// A replica is promoted that has not got everything: holders are told at once, tokens grow all the
// same, and no lock is granted before `lock_delay` is over.

#include "protocol/lock.hpp"
#include "support/one_server.hpp"
#include "support/sentinel_group.hpp"

#include <functional>
#include <optional>
#include <string>

using namespace holdfast::test;

namespace {

using group_body = std::function<task(sentinel_group&, asio::any_io_executor)>;

void with_group(group_body const& body) {
    sentinel_group group;
    run_with_deadline(
        [&](asio::any_io_executor executor) { return body(group, std::move(executor)); },
        120s
    );
}

// Long enough that no time-out of the client's own says anything.
holdfast::config settings_for(sentinel_group const& group) {
    auto settings = short_leases(group.url(), 5min);
    settings.reconnect_max = 200ms;
    return settings;
}

// As if the primary had not replicated it.
void change_replicas(sentinel_group& group, std::function<void(redis_probe&)> const& change) {
    for (std::size_t i = 1; i < group.servers(); ++i) {
        auto probe = group.server(i).probe();
        BOOST_TEST(!probe.cmd("CONFIG", "SET", "replica-read-only", "no").is_error());
        change(probe);
        BOOST_TEST(!probe.cmd("CONFIG", "SET", "replica-read-only", "yes").is_error());
    }
}

// Of a primary that is killed.
task fail_over(sentinel_group& group) {
    std::optional<std::size_t> now;
    co_await run_aside([&] {
        group.server(0).kill();
        now = group.wait_for_switch(0);
    });
    BOOST_REQUIRE(now.has_value());
}

auto took(lease_clock::time_point since) {
    return lease_clock::now() - since;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_lock_that_was_not_replicated_is_lost_at_once_and_the_others_are_kept) {
    with_group([](sentinel_group& group, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, settings_for(group)};
        auto gone = co_await client.lock("gone").acquire();
        auto kept = co_await client.lock("kept").acquire();
        auto fixed_gone = co_await client.lock("fixed_gone").acquire({.renew = false});
        auto fixed_kept = co_await client.lock("fixed_kept").acquire({.renew = false});
        auto const lost = watch(gone);
        auto const lost_fixed = watch(fixed_gone);
        // None of them was renewed for long, but the replicas have them.
        co_await sleep_for(200ms);
        change_replicas(group, [](redis_probe& replica) {
            BOOST_TEST(replica.del("gone") == 1);
            BOOST_TEST(replica.del("fixed_gone") == 1);
        });
        co_await fail_over(group);
        auto const switched = lease_clock::now();
        BOOST_TEST(co_await co_eventually(10s, [&] { return lost->told && lost_fixed->told; }));
        BOOST_TEST((took(switched) < 10s));
        BOOST_TEST((lost->reason == loss_reason::failed_over));
        BOOST_TEST((lost_fixed->reason == loss_reason::failed_over));
        BOOST_TEST((gone.remaining() == 0ns));
        BOOST_TEST(client.stats().losses.failed_over == 2U);
        auto const held = [&] {
            return kept.state() == lease_state::held && fixed_kept.state() == lease_state::held;
        };
        BOOST_TEST(co_await co_eventually(10s, held));
        BOOST_TEST((co_await release(gone) == errc::lease_lost));
        BOOST_TEST(!co_await release(kept));
        BOOST_TEST(!co_await release(fixed_kept));

        // What is deleted there later was deleted.
        auto again = co_await client.lock("kept").acquire();
        auto const deleted = watch(again);
        BOOST_TEST(group.primary_server().probe().del("kept") == 1);
        BOOST_TEST((co_await renew(again) == errc::lease_lost));
        BOOST_TEST(co_await co_eventually(10s, [&] { return deleted->told; }));
        BOOST_TEST((deleted->reason == loss_reason::deleted));
    });
}

BOOST_AUTO_TEST_CASE(tokens_grow_although_the_promoted_counter_is_stale) {
    with_group([](sentinel_group& group, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, settings_for(group)};
        auto first = co_await client.lock("a").acquire();
        co_await sleep_for(200ms);
        auto const on = holdfast::detail::make_lock_target("", "a");
        std::string const counter{on.counter()};
        change_replicas(group, [&](redis_probe& replica) {
            BOOST_TEST(replica.exists(counter));
            replica.set(counter, "7");
            BOOST_TEST(replica.del("a") == 1);
        });
        co_await fail_over(group);
        holdfast::client other{executor, settings_for(group)};
        auto second = co_await other.lock("a").acquire();
        BOOST_TEST(second.token().value > first.token().value);
        BOOST_TEST(!co_await release(second));
        auto third = co_await client.lock("a").acquire();
        BOOST_TEST(third.token().value > second.token().value);
        BOOST_TEST(!co_await release(third));
    });
}

BOOST_AUTO_TEST_CASE(no_lock_is_granted_before_the_delay_is_over) {
    with_group([](sentinel_group& group, asio::any_io_executor executor) -> task {
        constexpr auto delay = 10s;
        auto settings = settings_for(group);
        settings.lock_delay = delay;
        // Nobody has met this server. It may have lost its data.
        auto const start = lease_clock::now();
        holdfast::client client{executor, settings};
        holdfast::client other{executor, settings};
        auto held = co_await client.lock("a").acquire();
        BOOST_TEST((took(start) >= delay));
        BOOST_TEST((took(start) < 2 * delay));
        // Who comes later does not wait again.
        holdfast::client late{executor, settings};
        auto const came = lease_clock::now();
        auto another = co_await late.lock("b").acquire();
        BOOST_TEST((took(came) < delay));

        auto const waiting = start_acquire(client.lock("a"), {}, &held);
        co_await sleep_for(200ms);
        auto const killed = lease_clock::now();
        co_await fail_over(group);
        auto const switched = lease_clock::now();
        // What is held is renewed there, and handed over within the client.
        auto const renewed = [&] {
            return held.state() == lease_state::held && another.state() == lease_state::held;
        };
        BOOST_TEST(co_await co_eventually(delay, renewed));
        BOOST_TEST(!co_await release(held));
        BOOST_TEST(co_await co_eventually(delay, [&] { return waiting->done; }));
        BOOST_TEST(waiting->held.valid());
        // Nothing is granted. Who has promoted the server may have been slow to say so.
        auto [tried, early] = co_await other.lock("c").try_acquire_for(500ms, as_result);
        BOOST_TEST((tried == errc::server_refused || took(killed) >= delay), tried.message());
        early = {};
        auto granted = co_await other.lock("c").acquire();
        // The first client was there before all Sentinels had heard of it.
        BOOST_TEST((took(killed) >= delay));
        BOOST_TEST((took(switched) < 2 * delay));
        BOOST_TEST(!co_await release(granted));
        BOOST_TEST(!co_await release(another));
        BOOST_TEST(!co_await release(waiting->held));
    });
}

BOOST_AUTO_TEST_CASE(a_server_that_has_lost_its_data_counts_as_another) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        constexpr auto delay = 3s;
        auto settings = holdfast::parse_url(server.url());
        settings.lock_delay = delay;
        settings.reconnect_max = 100ms;
        holdfast::client client{executor, settings};
        co_await warm_up(client);
        auto const start = lease_clock::now();
        co_await warm_up(client);
        // A connection that breaks is no failover.
        server.probe().client_kill_type("normal");
        server.probe().client_kill_type("pubsub");
        co_await warm_up(client);
        BOOST_TEST((took(start) < delay));
        for (bool const keep_data : {false, true}) {
            co_await run_aside([&] { server.restart(keep_data); });
            auto const restarted = lease_clock::now();
            co_await warm_up(client);
            BOOST_TEST((took(restarted) >= delay / 2));
        }
    });
}

// The page on the Redis user says which rights are needed for it.
BOOST_AUTO_TEST_CASE(the_delay_needs_the_right_to_see_which_server_it_is) {
    std::string const rights =
        "resetchannels ~app:* ~redisson_lock_token:{app:* ~redisson_lock__channel:{app:* "
        "~holdfast_queue:{app:* "
        "&redisson_lock__channel:{app:* &holdfast_waiters:{app:* &holdfast_client:* +ping +time "
        "+evalsha +eval +subscribe +unsubscribe +pttl +hkeys +hgetall +hexists +hset +hdel +set "
        "+get +incr +incrby +pexpire +pexpireat +exists +del +publish +zadd +zrem +zrange +zrank "
        "+zscore +zcount +pubsub|numsub";
    auto const second_takes = [](lease_clock::duration& out) {
        return [&out](redis_server& server, asio::any_io_executor executor) -> task {
            auto settings = as_alice(server);
            settings.key_prefix = "app:";
            settings.lock_delay = 2s;
            holdfast::client first{executor, settings};
            co_await warm_up(first);
            holdfast::client second{executor, settings};
            auto const start = lease_clock::now();
            co_await warm_up(second);
            out = took(start);
        };
    };
    lease_clock::duration with{};
    with_alice(rights + " +info", second_takes(with));
    BOOST_TEST((with < 2s));
    lease_clock::duration without{};
    with_alice(rights, second_takes(without));
    BOOST_TEST((without >= 2s));
}
