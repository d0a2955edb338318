// Leases that are renewed together: what happens to one of them does not happen to the others.

#include "support/one_server.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <cstddef>
#include <cstdint>
#include <future>
#include <string>
#include <thread>
#include <vector>

using namespace holdfast::test;
using holdfast::client;
using holdfast::lease;

namespace {

constexpr auto lease_time = 3s;

// On the locks "a:0", "a:1", …
asio::awaitable<std::vector<lease>> acquire_many(client& by, int count) {
    std::vector<lease> all;
    for (int i = 0; i < count; ++i) {
        all.push_back(co_await by.lock("a:{}", i).acquire());
    }
    co_return all;
}

std::size_t valid(std::vector<lease> const& all) {
    std::size_t count = 0;
    for (auto const& one : all) {
        count += one.state() == lease_state::held ? 1 : 0;
    }
    return count;
}

asio::awaitable<void> release_all(std::vector<lease>& all) {
    for (auto& one : all) {
        co_await release(one);
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(hundreds_of_leases_are_renewed_by_a_few_scripts) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        client client{executor, short_leases(server.url(), lease_time)};
        auto all = co_await acquire_many(client, 400);
        auto probe = server.probe();
        auto const before = client.stats();
        co_await sleep_for(2 * lease_time);
        auto const after = client.stats();
        BOOST_TEST(valid(all) == 400U);
        for (int i = 0; i < 400; ++i) {
            BOOST_REQUIRE(probe.pttl("a:" + std::to_string(i)) >= 1000);
        }
        auto const renewals = after.renewals - before.renewals;
        // Six times each, and a few of them once more.
        BOOST_TEST(renewals >= 4U * 400U);
        BOOST_TEST(renewals <= 8U * 400U);
        // How few is a question of how soon after each other they were acquired.
        BOOST_TEST(after.commands - before.commands <= renewals / 4);

        co_await release_all(all);
        BOOST_TEST(probe.lock_keys().empty());
        auto const commands = client.stats().commands;
        co_await sleep_for(lease_time / 2);
        BOOST_TEST(client.stats().commands == commands);
    });
}

BOOST_AUTO_TEST_CASE(a_lock_that_is_gone_costs_its_own_lease_only) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        client client{executor, short_leases(server.url(), lease_time)};
        auto all = co_await acquire_many(client, 200);
        auto probe = server.probe();
        std::string const other = "11111111-2222-4333-8444-555555555555:7";
        probe.del("a:50");
        probe.set("a:60", "precious");
        probe.del("a:70");
        probe.cmd("HSET", "a:70", other, 1);
        auto const lost_one = [&] {
            return !all[50].valid() && !all[60].valid() && !all[70].valid();
        };
        BOOST_TEST(co_await co_eventually(lease_time, lost_one));
        BOOST_TEST((all[50].loss() == loss_reason::deleted));
        BOOST_TEST((all[60].loss() == loss_reason::deleted));
        BOOST_TEST((all[70].loss() == loss_reason::taken));
        co_await sleep_for(lease_time);
        BOOST_TEST(valid(all) == 197U);
        auto const count = client.stats();
        BOOST_TEST(count.losses.deleted == 2U);
        BOOST_TEST(count.losses.taken == 1U);

        // What is not ours was neither renewed nor touched.
        BOOST_TEST(!probe.exists("a:50"));
        BOOST_TEST(probe.get("a:60").value() == "precious");
        BOOST_TEST(probe.pttl("a:70") == -1);
        co_await release_all(all);
        BOOST_TEST((probe.lock_keys() == std::vector<std::string>{"a:60", "a:70"}));
    });
}

BOOST_AUTO_TEST_CASE(a_key_that_is_denied_costs_its_own_lease_only) {
    log_lines log;
    with_alice("~* &* +@all", [&](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = as_alice(server);
        settings.lease = lease_time;
        settings.log = log.sink();
        client client{executor, settings};
        auto all = co_await acquire_many(client, 50);
        auto denied = co_await client.lock("other").acquire();
        auto const lost = watch(denied);
        server.probe().cmd("ACL", "SETUSER", "alice", "resetkeys", "~a:*", "~redisson_*");

        auto const in_doubt = [&] { return denied.state() == lease_state::in_doubt; };
        BOOST_TEST(co_await co_eventually(lease_time, in_doubt));
        BOOST_TEST(co_await co_eventually(lease_time, [&] { return lost->told; }));
        BOOST_TEST((lost->reason == loss_reason::unreachable));
        BOOST_TEST(valid(all) == 50U);
        BOOST_TEST(client.stats().failed_renewals >= 1U);

        // Nothing reminds of it.
        auto const before = client.stats();
        co_await sleep_for(lease_time);
        auto const after = client.stats();
        BOOST_TEST(valid(all) == 50U);
        BOOST_TEST(after.failed_renewals == before.failed_renewals);
        BOOST_TEST(after.commands - before.commands <= (after.renewals - before.renewals) / 5);
        co_await release_all(all);
    });
    BOOST_TEST(log.count(log_level::error, "renew") > 0U);
}

BOOST_AUTO_TEST_CASE(a_strand_that_is_stuck_is_not_renewed_with_the_others) {
    redis_server server;
    asio::thread_pool pool{3};
    {
        client client{pool, short_leases(server.url(), 1500ms)};
        auto const acquired = [&](auto const& executor, std::string const& name) {
            return client.lock(name).acquire(asio::bind_executor(executor, asio::use_future)).get();
        };
        auto const stuck = asio::make_strand(pool);
        auto const well = asio::make_strand(pool);
        std::vector<lease> others;
        std::vector<lease> lost;
        for (int i = 0; i < 20; ++i) {
            others.push_back(acquired(well, "well:" + std::to_string(i)));
            lost.push_back(acquired(stuck, "stuck:" + std::to_string(i)));
        }
        std::promise<void> ended;
        asio::post(stuck, [&] {
            std::this_thread::sleep_for(3s);
            ended.set_value();
        });
        std::this_thread::sleep_for(2500ms);
        auto probe = server.probe();
        for (auto const& one : lost) {
            BOOST_TEST(!one.valid());
        }
        BOOST_TEST(probe.keys("stuck:*").empty());
        BOOST_TEST(valid(others) == 20U);
        BOOST_TEST(probe.keys("well:*").size() == 20U);
        ended.get_future().wait();
    }
    pool.join();
}
