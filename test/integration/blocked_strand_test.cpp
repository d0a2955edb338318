// A strand that is blocked, and a lease that several threads look at.

#include "support/gated_server.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace holdfast::test;

namespace {}  // namespace

BOOST_AUTO_TEST_CASE(a_holder_that_blocks_its_strand_loses_its_lease_and_no_other) {
    redis_server server;
    auto settings = holdfast::parse_url(server.url());
    settings.lease = 1s;
    asio::thread_pool pool{3};
    {
        holdfast::client client{pool, settings};
        auto const blocked = asio::make_strand(pool);
        auto const granted = [&](auto executor, char const* name) {
            return asio::co_spawn(
                       executor,
                       [lock = client.lock(name)]() -> asio::awaitable<holdfast::lease> {
                           co_return co_await lock.acquire();
                       },
                       asio::use_future
            )
                .get();
        };
        auto lease = granted(blocked, "a");
        auto other = granted(asio::make_strand(pool), "b");
        auto lost = lease.wait_lost(asio::use_future);
        std::promise<bool> first_look;
        asio::post(blocked, [&] {
            std::this_thread::sleep_for(2s);
            first_look.set_value(lease.valid());
        });
        BOOST_TEST(first_look.get_future().get() == false);
        BOOST_TEST((lost.wait_for(2s) == std::future_status::ready));
        BOOST_TEST((lost.get() == loss_reason::expired));
        BOOST_TEST(other.valid());
        // The lock is free for others.
        auto next = granted(asio::make_strand(pool), "a");
        BOOST_TEST(next.valid());
        BOOST_TEST(next.token().value > lease.token().value);
        auto released = lease.release(asio::as_tuple(asio::use_future));
        BOOST_TEST((std::get<0>(released.get()) == errc::lease_lost));
        BOOST_TEST(next.valid());
    }
    pool.join();
    BOOST_TEST(server.probe().lock_keys().empty());
}

BOOST_AUTO_TEST_CASE(a_blocked_connection_strand_does_not_keep_holders_from_being_told) {
    redis_server server;
    auto settings = holdfast::parse_url(server.url());
    settings.lease = 1s;
    // The log is written on the client's strand.
    std::promise<void> stuck;
    settings.log = [&, once = std::make_shared<bool>(true)](log_level level, std::string_view) {
        if (level == log_level::error && std::exchange(*once, false)) {
            stuck.set_value();
            std::this_thread::sleep_for(2s);
        }
    };
    server.probe().set("no-lock", "an error for the log");
    // One thread is stuck in the client's strand, another one runs everything else.
    asio::thread_pool pool{2};
    {
        holdfast::client client{pool, settings};
        auto lease = client.lock("a")
                         .acquire(asio::bind_executor(asio::make_strand(pool), asio::use_future))
                         .get();
        client.lock("no-lock").acquire([](error_code, holdfast::lease) {});
        stuck.get_future().wait();
        auto lost = lease.wait_lost(asio::use_future);
        BOOST_TEST((lost.wait_for(1'900ms) == std::future_status::ready));
        BOOST_TEST((lost.get() == loss_reason::unreachable));
        BOOST_TEST(!lease.valid());
        BOOST_TEST((lease.remaining() > 0ms));  // told before the deadline
    }
    pool.join();
    BOOST_TEST(server.probe().lock_keys() == std::vector<std::string>{"no-lock"});
}

BOOST_AUTO_TEST_CASE(a_blocked_client_context_does_not_keep_holders_of_another_from_being_told) {
    gated_server server;
    asio::thread_pool clients{1};
    asio::thread_pool holders{1};
    {
        auto client = server.make_client(clients.get_executor(), short_config());
        auto lease = client.lock("a").acquire(asio::bind_executor(holders, asio::use_future)).get();
        std::promise<void> stuck;
        asio::post(clients, [&] {
            stuck.set_value();
            std::this_thread::sleep_for(3s);
        });
        stuck.get_future().wait();
        std::promise<loss_reason> told;
        lease.wait_lost(asio::bind_executor(holders, [&](error_code, loss_reason reason) {
            told.set_value(reason);
        }));
        auto lost = told.get_future();
        BOOST_TEST((lost.wait_for(2'500ms) == std::future_status::ready));
        BOOST_TEST(!lease.valid());
        lost.wait();
    }
    holders.join();
    clients.join();
}

BOOST_AUTO_TEST_CASE(a_lease_is_looked_at_from_two_threads) {
    gated_server server;
    asio::thread_pool pool{2};
    {
        auto client = server.make_client(pool.get_executor(), short_config());
        auto lease = client.lock("a").acquire(asio::use_future).get();
        auto const token = lease.token();
        std::atomic<bool> stop{false};
        std::atomic<int> wrong{0};
        auto const look = [&] {
            while (!stop) {
                wrong += lease.token() != token;
                wrong += lease.remaining() > 2s;
                wrong += lease.state() == lease_state::lost && lease.valid();
                (void)lease.loss();
                (void)lease.deadline();
                (void)static_cast<bool>(lease);
            }
        };
        std::thread first{look};
        std::thread second{look};
        for (int i = 0; i < 200; ++i) {
            lease.renew(asio::use_future).get();
        }
        server.set_up(false);
        std::this_thread::sleep_for(10ms);
        server.set_up(true);
        lease.renew(asio::as_tuple(asio::use_future)).get();
        lease.release(asio::as_tuple(asio::use_future)).get();
        stop = true;
        first.join();
        second.join();
        BOOST_TEST(wrong == 0);
        BOOST_TEST(!lease);
        BOOST_TEST((lease.token() == token));
    }
    pool.join();
    BOOST_TEST(server.lock_keys().empty());
}
