// Grants that count only when replicas have them: enough of them, too few, slow ones, and none.

#include "support/one_server.hpp"
#include "support/replica_set.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

using namespace holdfast::test;

namespace {

constexpr auto patience = 400ms;

holdfast::config waiting_for(
    unsigned count,
    redis_server const& primary,
    std::chrono::milliseconds timeout = patience
) {
    auto settings = holdfast::parse_url(primary.url());
    settings.replicas = {.count = count, .timeout = timeout};
    settings.reconnect_max = 200ms;
    return settings;
}

using set_body = std::function<task(replica_set&, asio::any_io_executor)>;

void with_replicas(std::size_t count, set_body const& body) {
    replica_set all{count};
    run_with_deadline([&](asio::any_io_executor executor) { return body(all, std::move(executor)); }
    );
}

std::uint64_t counter_of(redis_server const& server, std::string const& name) {
    return std::stoull(server.probe().get("redisson_lock_token:{" + name + "}").value_or("0"));
}

bool is_clean(redis_server const& server) {
    return server.probe().lock_keys().empty();
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_grant_is_given_out_when_replicas_have_it) {
    with_replicas(2, [](replica_set& all, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, waiting_for(2, all.primary())};
        co_await client.ready();
        for (int i = 0; i < 20; ++i) {
            auto lease = co_await client.lock("a").acquire();
            for (std::size_t const one : {0U, 1U}) {
                auto probe = all.replica(one).probe();
                BOOST_TEST(probe.hgetall("a").size() == 1U);
                BOOST_TEST(probe.pttl("a") > 20'000);
                BOOST_TEST(counter_of(all.replica(one), "a") >= lease.token().value);
            }
            BOOST_TEST(!co_await release(lease));
        }
    });
}

BOOST_AUTO_TEST_CASE(a_server_without_replicas_grants_nothing_and_says_so_in_time) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, waiting_for(1, server)};
        co_await client.ready();
        auto const start = lease_clock::now();
        auto [ec, lease] = co_await client.lock("a").try_acquire(as_result);
        auto const took = lease_clock::now() - start;
        BOOST_TEST((ec == errc::not_replicated));
        BOOST_TEST(!lease);
        BOOST_TEST(holdfast::is_retryable(ec));
        BOOST_TEST((took >= patience));
        BOOST_TEST((took < patience + 3s));
        BOOST_TEST(co_await co_eventually(10s, [&] { return is_clean(server); }));

        auto [limited, none] = co_await client.lock("a").try_acquire_for(1s, as_result);
        BOOST_TEST((limited == errc::not_replicated));
        BOOST_TEST(!none);
        BOOST_TEST(co_await co_eventually(10s, [&] { return is_clean(server); }));
    });
}

BOOST_AUTO_TEST_CASE(one_replica_too_few_is_too_few) {
    with_replicas(1, [](replica_set& all, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, waiting_for(2, all.primary())};
        auto [ec, lease] = co_await client.lock("a").try_acquire(as_result);
        BOOST_TEST((ec == errc::not_replicated));
        BOOST_TEST(co_await co_eventually(10s, [&] { return is_clean(all.primary()); }));
    });
}

BOOST_AUTO_TEST_CASE(a_replica_that_stops_keeps_nobody_waiting_for_longer_than_agreed) {
    with_replicas(1, [](replica_set& all, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, waiting_for(1, all.primary())};
        co_await warm_up(client);
        all.replica().pause();
        auto const start = lease_clock::now();
        auto [ec, lease] = co_await client.lock("a").try_acquire(as_result);
        BOOST_TEST((ec == errc::not_replicated));
        BOOST_TEST((lease_clock::now() - start < patience + 3s));
        BOOST_TEST(co_await co_eventually(10s, [&] { return is_clean(all.primary()); }));

        // Who waits for the lock waits for the replica, too.
        auto const waiting = start_acquire(client.lock("a"));
        co_await sleep_for(3 * patience);
        BOOST_TEST(!waiting->done);
        all.replica().resume();
        BOOST_REQUIRE(co_await co_eventually(5s, [&] { return waiting->done; }));
        BOOST_TEST(waiting->held.valid());
        BOOST_TEST(all.replica().probe().hgetall("a").size() == 1U);
        BOOST_TEST(!co_await release(waiting->held));
        BOOST_TEST(is_clean(all.primary()));
    });
}

// Whoever comes while others wait for a slow replica has its own time, and one WAIT is for all who
// came meanwhile.
BOOST_AUTO_TEST_CASE(many_wait_for_replicas_together) {
    with_replicas(1, [](replica_set& all, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, waiting_for(1, all.primary(), 3s)};
        co_await warm_up(client);
        all.delay(20ms);
        auto const before = all.primary().probe().commandstats()["wait"];
        constexpr int keys = 300;
        int granted = 0;
        for (int i = 0; i < keys; ++i) {
            client.lock("key{}", i).acquire([&](error_code ec, holdfast::lease held) {
                granted += !ec && held.valid() ? 1 : 0;
            });
        }
        BOOST_TEST(co_await co_eventually(10s, [&] { return granted == keys; }));
        auto const waits = all.primary().probe().commandstats()["wait"] - before;
        BOOST_TEST(waits < keys / 10);
        BOOST_TEST_MESSAGE(keys << " grants in " << waits << " WAITs");
    });
}

BOOST_AUTO_TEST_CASE(a_lock_that_another_client_hands_over_is_confirmed) {
    with_replicas(1, [](replica_set& all, asio::any_io_executor executor) -> task {
        holdfast::client left{executor, waiting_for(1, all.primary())};
        holdfast::client right{executor, waiting_for(1, all.primary())};
        auto held = co_await left.lock("a").acquire();
        auto const waiting = start_acquire(right.lock("a"));
        auto const waits = [&] { return right.stats().refusals >= 2; };
        BOOST_REQUIRE(co_await co_eventually(10s, waits));
        all.hold_back(true);
        BOOST_TEST(!co_await release(held));
        co_await sleep_for(patience / 2);
        BOOST_TEST(!waiting->done);
        co_await sleep_for(2 * patience);
        BOOST_TEST(!waiting->done);
        all.hold_back(false);
        BOOST_REQUIRE(co_await co_eventually(5s, [&] { return waiting->done; }));
        BOOST_TEST(waiting->held.valid());
        auto const there = all.replica().probe().hgetall("a");
        BOOST_TEST((there == all.primary().probe().hgetall("a")));
        BOOST_TEST(counter_of(all.replica(), "a") >= waiting->held.token().value);
        BOOST_TEST(!co_await release(waiting->held));
    });
}

// A holder of the same client gets a token that was taken before. It was confirmed then.
BOOST_AUTO_TEST_CASE(no_token_is_given_out_that_replicas_do_not_know_to_be_taken) {
    with_replicas(1, [](replica_set& all, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, waiting_for(1, all.primary(), 3s)};
        auto probe = all.replica().probe();
        co_await warm_up(client);
        all.delay(2ms);
        constexpr int wanted = 2'000;
        int granted = 0;
        int unknown = 0;
        int ended = 0;
        auto const use = [&]() -> task {
            while (granted < wanted) {
                auto lease = co_await client.lock("a").acquire();
                ++granted;
                auto const known = probe.get("redisson_lock_token:{a}").value_or("0");
                unknown += std::stoull(known) < lease.token().value ? 1 : 0;
                co_await lease.release();
            }
            ++ended;
        };
        constexpr int users = 8;
        for (int i = 0; i < users; ++i) {
            asio::co_spawn(executor, use(), asio::detached);
        }
        BOOST_TEST(co_await co_eventually(20s, [&] { return ended == users; }));
        BOOST_TEST(unknown == 0);
        BOOST_TEST(client.stats().hand_overs_by.own_client > 0U);
    });
}

BOOST_AUTO_TEST_CASE(every_kind_of_grant_waits_for_replicas) {
    with_replicas(1, [](replica_set& all, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, waiting_for(1, all.primary(), 250ms)};
        co_await warm_up(client);
        auto semaphore = client.semaphore("semaphore");
        co_await semaphore.try_set_permits(3);
        auto counting = client.counting_semaphore("counting");
        co_await counting.try_set_permits(2);
        auto locks = holdfast::multi_lock{client.lock("one"), client.lock("two")};
        // What one came to; then it is given back.
        auto const check = [](error_code ec, auto& lease, bool confirmed) -> task {
            BOOST_TEST((ec == (confirmed ? error_code{} : errc::not_replicated)), ec.message());
            BOOST_TEST(lease.valid() == confirmed);
            if (lease) {
                co_await lease.release();
            }
        };
        auto rw = client.read_write_lock("rw");
        auto const attempt = [&](bool confirmed) -> task {
            auto [fair, fair_lease] = co_await client.fair_lock("fair").try_acquire(as_result);
            co_await check(fair, fair_lease, confirmed);
            auto [read, read_lease] = co_await rw.read().try_acquire(as_result);
            co_await check(read, read_lease, confirmed);
            auto [write, write_lease] = co_await rw.write().try_acquire(as_result);
            co_await check(write, write_lease, confirmed);
            auto [permit, permit_lease] = co_await semaphore.try_acquire(as_result);
            co_await check(permit, permit_lease, confirmed);
            auto [both, both_leases] = co_await locks.try_acquire(as_result);
            co_await check(both, both_leases, confirmed);
            auto [taken, has_it] = co_await counting.try_acquire(as_result);
            BOOST_TEST((taken == (confirmed ? error_code{} : errc::not_replicated)));
            BOOST_TEST(has_it == confirmed);
            if (has_it) {
                co_await counting.release();
            }
        };
        co_await attempt(true);
        all.hold_back(true);
        co_await attempt(false);
        auto const given_back = [&] {
            auto probe = all.primary().probe();
            return !probe.exists("fair") && !probe.exists("rw") && !probe.exists("one") &&
                   !probe.exists("two") && probe.get("counting") == "2";
        };
        BOOST_TEST(co_await co_eventually(10s, given_back));
        all.hold_back(false);
        co_await attempt(true);
    });
}

BOOST_AUTO_TEST_CASE(a_lease_whose_renewals_replicas_do_not_get_is_lost_in_time) {
    with_replicas(1, [](replica_set& all, asio::any_io_executor executor) -> task {
        auto settings = short_leases(all.primary().url(), 3s);
        settings.replicas = {.count = 1, .timeout = 200ms};
        holdfast::client client{executor, settings};
        auto held = co_await client.lock("a").acquire();
        auto const lost = watch(held);
        all.hold_back(true);
        // Within the same millisecond there would be nothing to renew, and nothing to confirm.
        co_await sleep_for(20ms);
        BOOST_TEST((co_await renew(held) == errc::not_replicated));
        BOOST_TEST((held.state() == lease_state::in_doubt));
        BOOST_TEST(held.valid());
        all.hold_back(false);
        auto const is_held = [&] { return held.state() == lease_state::held; };
        BOOST_TEST(co_await co_eventually(2s, is_held));
        BOOST_TEST(!co_await renew(held));
        all.hold_back(true);
        BOOST_TEST(co_await co_eventually(4s, [&] { return lost->told; }));
        BOOST_TEST(
            (lost->reason == loss_reason::unreachable || lost->reason == loss_reason::expired)
        );
        BOOST_TEST(!held.valid());
        // As the replica sees it, the lock is kept for longer than its holder believed.
        BOOST_TEST(all.replica().probe().exists("a"));
        all.hold_back(false);
    });
}

BOOST_AUTO_TEST_CASE(a_cut_while_replicas_are_waited_for_costs_a_wait_and_leaves_nothing) {
    with_replicas(1, [](replica_set& all, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, waiting_for(1, all.primary(), 3s)};
        co_await warm_up(client);
        all.hold_back(true);
        auto const waiting = start_acquire(client.lock("a"));
        auto probe = all.primary().probe();
        std::string id;
        auto const waits = [&] {
            for (auto& one : probe.client_list()) {
                if (one["cmd"] == "wait") {
                    id = one["id"];
                }
            }
            return !id.empty();
        };
        BOOST_REQUIRE(co_await co_eventually(10s, waits));
        BOOST_TEST(probe.cmd("CLIENT", "KILL", "ID", id).as_integer() == 1);
        all.hold_back(false);
        BOOST_REQUIRE(co_await co_eventually(5s, [&] { return waiting->done; }));
        BOOST_TEST(waiting->held.valid());
        BOOST_TEST(!co_await release(waiting->held));
        BOOST_TEST(co_await co_eventually(10s, [&] { return is_clean(all.primary()); }));

        // One that does not wait for the next connection is told.
        all.hold_back(true);
        auto const once = std::make_shared<acquisition>();
        client.lock("b").try_acquire(keep(once));
        id.clear();
        BOOST_REQUIRE(co_await co_eventually(10s, waits));
        BOOST_TEST(probe.cmd("CLIENT", "KILL", "ID", id).as_integer() == 1);
        BOOST_REQUIRE(co_await co_eventually(10s, [&] { return once->done; }));
        BOOST_TEST((once->error == errc::unreachable));
        BOOST_TEST(co_await co_eventually(10s, [&] { return is_clean(all.primary()); }));
        all.hold_back(false);
    });
}

BOOST_AUTO_TEST_CASE(who_is_cancelled_while_replicas_are_waited_for_leaves_nothing) {
    with_replicas(1, [](replica_set& all, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, waiting_for(1, all.primary(), 3s)};
        co_await warm_up(client);
        all.hold_back(true);
        for (bool const once : {true, false}) {
            asio::cancellation_signal signal;
            auto const result = std::make_shared<acquisition>();
            auto handler = asio::bind_cancellation_slot(signal.slot(), keep(result));
            if (once) {
                client.lock("a").try_acquire(std::move(handler));
            } else {
                client.lock("a").acquire(std::move(handler));
            }
            auto const there = [&] { return all.primary().probe().exists("a"); };
            BOOST_REQUIRE(co_await co_eventually(10s, there));
            co_await sleep_for(20ms);
            signal.emit(asio::cancellation_type::terminal);
            BOOST_REQUIRE(co_await co_eventually(10s, [&] { return result->done; }));
            BOOST_TEST((result->error == asio::error::operation_aborted));
            BOOST_TEST(co_await co_eventually(10s, [&] { return is_clean(all.primary()); }));
        }
        all.hold_back(false);
    });
}

BOOST_AUTO_TEST_CASE(a_user_who_may_not_wait_learns_of_it_at_once) {
    replica_set all{1, {.users = {"alice on >secret ~* &* +@all -wait"}}};
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        auto settings = as_alice(all.primary());
        settings.replicas = {.count = 1, .timeout = 3s};
        holdfast::client client{executor, settings};
        auto const start = lease_clock::now();
        auto [once, none] = co_await client.lock("a").try_acquire(as_result);
        BOOST_TEST((once == errc::no_permission));
        auto [ec, lease] = co_await client.lock("a").acquire(as_result);
        BOOST_TEST((ec == errc::no_permission));
        BOOST_TEST((lease_clock::now() - start < 2s));
        BOOST_TEST(co_await co_eventually(10s, [&] { return is_clean(all.primary()); }));
    });
}
