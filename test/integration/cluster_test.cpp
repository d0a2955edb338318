// Locks, and everything else that waits and holds, on a Redis Cluster whose slots stay where they
// are.

#include "support/one_cluster.hpp"

#include <holdfast/multi_lock.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace holdfast::test;

namespace {

// One lock on each node.
std::vector<std::string> names_on_all(redis_cluster& cluster, std::string const& beginning) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < cluster.size(); ++i) {
        names.push_back(cluster.name_on(i, beginning));
    }
    return names;
}

holdfast::config settings_of(redis_cluster& cluster, holdfast::cluster_channel_kind kind) {
    auto settings = holdfast::parse_url(cluster.url());
    settings.cluster_channels = kind;
    return settings;
}

using two_clients_body = std::function<
    task(redis_cluster&, asio::any_io_executor const&, holdfast::client&, holdfast::client&)>;

void with_two_clients(
    holdfast::cluster_channel_kind kind,
    two_clients_body const& body,
    bool hand_over = true
) {
    with_cluster([&](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        auto settings = settings_of(cluster, kind);
        settings.hand_over = hand_over;
        holdfast::client first{executor, settings};
        holdfast::client second{executor, settings};
        auto running = body(cluster, executor, first, second);
        co_await std::move(running);
    });
}

// Runs the coroutine in a moment, while the caller waits for what it does.
template <class F>
task after_a_moment(F f) {
    co_await sleep_for(100ms);
    co_await f();
}

template <class F>
void soon(asio::any_io_executor const& executor, F f) {
    asio::co_spawn(executor, after_a_moment(std::move(f)), asio::detached);
}

}  // namespace

BOOST_AUTO_TEST_CASE(locks_of_each_node_are_granted_renewed_and_given_back) {
    with_cluster([](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, cluster.url_of(0)};
        co_await client.ready();
        for (auto const& name : names_on_all(cluster, "stock:")) {
            auto lease = co_await client.lock(name).acquire();
            BOOST_TEST(lease.valid());
            BOOST_TEST(lease.token().value > 1'000'000'000'000'000U);
            auto probe = cluster.probe_of(name);
            BOOST_TEST(probe.exists(name));
            co_await lease.renew();
            co_await lease.release();
            BOOST_TEST(!probe.exists(name));
        }
        BOOST_TEST(cluster.errors("MOVED") == 0);
        BOOST_TEST(cluster.errors("CROSSSLOT") == 0);
    });
}

BOOST_AUTO_TEST_CASE(a_busy_lock_is_refused_and_a_name_without_a_slot_is_none) {
    with_cluster([](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        holdfast::client first{executor, cluster.url()};
        holdfast::client second{executor, cluster.url()};
        auto const held = co_await first.lock("a").acquire();
        auto const busy = co_await second.lock("a").try_acquire();
        BOOST_TEST(!busy);
        // Fault 112: braces that Redisson's rule for names would spread over several slots.
        for (std::string const name : {"foo{", "{}foo", "}{", "a}b", "{a", "a}"}) {
            auto lock = first.lock(name);
            auto acquire = lock.acquire(as_result);
            auto [ec, lease] = co_await std::move(acquire);
            BOOST_TEST((ec == errc::invalid_name), name);
            auto inspect = lock.inspect(as_result);
            auto [inspected, info] = co_await std::move(inspect);
            BOOST_TEST((inspected == errc::invalid_name), name);
        }
        auto tagged = co_await first.lock(std::string{"order:{42}:line"}).acquire();
        BOOST_TEST(tagged.valid());
        co_await tagged.release();
    });
}

HOLDFAST_FOR_CHANNELS(a_waiter_of_another_client_is_handed_the_lock) {
    with_two_clients(kind, [](auto& cluster, auto& executor, auto& first, auto& second) -> task {
        for (auto const& name : names_on_all(cluster, "waited:")) {
            auto held = co_await first.lock(name).acquire();
            waiting_acquire waiter{executor, second.lock(name)};
            auto probe = cluster.probe_of(name);
            BOOST_TEST(co_await co_eventually(5s, [&] {
                return probe.cmd("ZCARD", "holdfast_queue:{" + name + "}").as_integer() == 1;
            }));
            BOOST_TEST(!waiter.granted());
            auto const former = held.token();
            co_await held.release();
            BOOST_TEST(co_await co_eventually(2s, [&] { return waiter.granted(); }));
            BOOST_TEST(waiter.lease().token().value > former.value);
            co_await waiter.lease().release();
        }
        BOOST_TEST(second.stats().hand_overs == 3U);
        BOOST_TEST(second.stats().hand_overs_by.other_client == 3U);
        BOOST_TEST(cluster.errors("MOVED") == 0);
    });
}

HOLDFAST_FOR_CHANNELS(without_hand_over_a_release_wakes_the_waiter) {
    auto const body = [](auto& cluster, auto& executor, auto& first, auto& second) -> task {
        for (auto const& name : names_on_all(cluster, "told:")) {
            auto held = co_await first.lock(name).acquire();
            waiting_acquire waiter{executor, second.lock(name)};
            BOOST_TEST(co_await co_eventually(5s, [&] {
                return second.stats().subscriptions_now > 0;
            }));
            co_await sleep_for(50ms);
            BOOST_TEST(!waiter.granted());
            co_await held.release();
            BOOST_TEST(co_await co_eventually(2s, [&] { return waiter.granted(); }));
            co_await waiter.lease().release();
        }
    };
    with_two_clients(kind, body, false);
}

BOOST_AUTO_TEST_CASE(a_forced_release_tells_the_waiters) {
    with_cluster([](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        holdfast::client first{executor, cluster.url()};
        holdfast::client second{executor, cluster.url()};
        auto held = co_await first.lock("forced").acquire();
        waiting_acquire waiter{executor, second.lock("forced")};
        BOOST_TEST(co_await co_eventually(5s, [&] { return second.stats().waits == 1; }));
        co_await sleep_for(100ms);
        auto const freed = co_await first.lock("forced").force_release();
        BOOST_TEST(freed);
        BOOST_TEST(co_await co_eventually(2s, [&] { return waiter.granted(); }));
        auto const info = co_await first.lock("forced").inspect();
        BOOST_TEST(info.held);
    });
}

HOLDFAST_FOR_CHANNELS(fair_locks_and_read_write_locks_wait_and_are_handed_on) {
    with_two_clients(kind, [](auto& cluster, auto& executor, auto& first, auto& second) -> task {
        for (auto const& name : names_on_all(cluster, "fair:")) {
            auto held = co_await first.fair_lock(name).acquire();
            auto const limit = lease_clock::now() + 2s;
            soon(executor, [&]() -> task { co_await held.release(); });
            auto next = co_await second.fair_lock(name).acquire();
            BOOST_TEST((lease_clock::now() < limit));
            co_await next.release();
        }
        for (auto const& name : names_on_all(cluster, "rw:")) {
            auto reading = co_await first.read_write_lock(name).read().acquire();
            auto also = co_await second.read_write_lock(name).read().acquire();
            auto const limit = lease_clock::now() + 2s;
            soon(executor, [&]() -> task {
                co_await reading.release();
                co_await also.release();
            });
            auto writing = co_await second.read_write_lock(name).write().acquire();
            BOOST_TEST((lease_clock::now() < limit));
            co_await writing.release();
        }
    });
}

HOLDFAST_FOR_CHANNELS(semaphores_and_latches_wait_and_are_told) {
    with_two_clients(kind, [](auto& cluster, auto& executor, auto& first, auto& second) -> task {
        for (auto const& name : names_on_all(cluster, "pool:")) {
            auto pool = first.semaphore(name);
            static_cast<void>(co_await pool.try_set_permits(1));
            auto held = co_await pool.acquire();
            auto const limit = lease_clock::now() + 2s;
            soon(executor, [&]() -> task { co_await held.release(); });
            auto next = co_await second.semaphore(name).acquire();
            BOOST_TEST((lease_clock::now() < limit));
            co_await next.release();
        }
        // A latch's channel needs the same hash tag as its keys.
        for (std::string const name : {"start", "start:{all}:once"}) {
            auto latch = first.latch(name);
            static_cast<void>(co_await latch.try_set(1));
            auto const limit = lease_clock::now() + 2s;
            soon(executor, [&]() -> task { co_await first.latch(name).count_down(); });
            co_await second.latch(name).wait();
            BOOST_TEST((lease_clock::now() < limit));
        }
        auto counted = first.counting_semaphore("counted");
        static_cast<void>(co_await counted.try_set_permits(1));
        co_await counted.acquire();
        auto const limit = lease_clock::now() + 2s;
        soon(executor, [&]() -> task { co_await first.counting_semaphore("counted").release(); });
        co_await second.counting_semaphore("counted").acquire();
        BOOST_TEST((lease_clock::now() < limit));
        BOOST_TEST(cluster.errors("CROSSSLOT") == 0);
    });
}

HOLDFAST_FOR_CHANNELS(leaders_of_each_node_follow_each_other_and_are_seen) {
    with_two_clients(
        kind,
        [](redis_cluster& cluster,
           asio::any_io_executor const& executor,
           holdfast::client& first,
           holdfast::client& second) -> task {
            auto names = names_on_all(cluster, "elected:");
            names.push_back("order:{42}:scheduler");
            for (auto const& name : names) {
                auto observer = second.election(name).observe();
                BOOST_TEST(!(co_await observer.next()));
                auto leads = co_await first.election(name).campaign("a");
                BOOST_TEST(((co_await observer.next()).term == leads.term()));
                auto const limit = lease_clock::now() + 2s;
                soon(executor, [&]() -> task { co_await leads.resign(); });
                auto next = co_await second.election(name).campaign("b");
                BOOST_TEST((lease_clock::now() < limit));
                auto seen = co_await observer.next();
                while (!seen) {
                    seen = co_await observer.next();
                }
                BOOST_TEST((seen.term == next.term()));
                BOOST_TEST((co_await first.election(name).leader()).value == "b");
                co_await next.resign();
            }
            BOOST_TEST(cluster.errors("CROSSSLOT") == 0);
        }
    );
}

BOOST_AUTO_TEST_CASE(several_locks_of_one_slot_or_of_all_nodes_are_taken_together) {
    with_cluster([](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, cluster.url()};
        co_await client.ready();
        holdfast::multi_lock near{client.lock("a{tag}"), client.lock("b{tag}")};
        for (int i = 0; i < 2; ++i) {
            auto lease = co_await near.acquire();
            BOOST_TEST(lease.valid());
            co_await lease.release();
        }
        auto const names = names_on_all(cluster, "far:");
        holdfast::multi_lock far{
            client.lock(names.at(0)),
            client.lock(names.at(1)),
            client.lock(names.at(2))
        };
        for (int i = 0; i < 2; ++i) {
            auto lease = co_await far.acquire();
            BOOST_TEST(lease.valid());
            co_await lease.renew();
            co_await lease.release();
        }
        BOOST_TEST(cluster.errors("CROSSSLOT") == 0);
        BOOST_TEST(cluster.probe(0).lock_keys().empty());
    });
}

BOOST_AUTO_TEST_CASE(renewals_of_a_slot_leave_together) {
    with_cluster([](redis_cluster& cluster, asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url(cluster.url());
        settings.lease = 1500ms;
        holdfast::client client{executor, settings};
        std::vector<holdfast::lease> leases;
        for (int i = 0; i < 20; ++i) {
            leases.push_back(co_await client.lock("{{one}}:{}", i).acquire());
            leases.push_back(co_await client.lock("{{two}}:{}", i).acquire());
        }
        auto const before = client.stats().commands;
        co_await sleep_for(2s);
        for (auto const& each : leases) {
            BOOST_TEST(each.valid());
        }
        // Each was renewed three or four times, and each slot's were one command.
        BOOST_TEST(client.stats().renewals >= 3U * leases.size());
        BOOST_TEST(client.stats().commands - before < leases.size());
        BOOST_TEST(cluster.errors("CROSSSLOT") == 0);
    });
}
