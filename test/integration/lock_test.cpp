// Taking, waiting for and giving back a lock on a real server.

#include "support/one_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

using namespace holdfast::test;

BOOST_AUTO_TEST_CASE(a_free_lock_is_granted_and_given_back) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto lock = client.lock("stock:{}:{}", 7, "apple");
        auto lease = co_await lock.acquire(asio::use_awaitable);
        BOOST_TEST(lease.valid());
        BOOST_TEST(lease.token().value > 1'000'000'000'000'000U);
        BOOST_TEST(probe.exists("stock:7:apple"));
        co_await lease.release();
        BOOST_TEST(!lease);
        BOOST_TEST(!probe.exists("stock:7:apple"));
    });
}

BOOST_AUTO_TEST_CASE(a_waiter_gets_the_lock_when_it_is_released) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client first{executor, server.url()};
        holdfast::client second{executor, server.url()};
        auto held = co_await first.lock("a").acquire();
        auto busy = co_await second.lock("a").try_acquire();
        BOOST_TEST(!busy);
        bool granted = false;
        asio::co_spawn(
            executor,
            [&]() -> task {
                auto lease = co_await second.lock("a").acquire();
                BOOST_TEST(lease.token().value > held.token().value);
                granted = true;
                co_await lease.release();
            },
            asio::detached
        );
        co_await sleep_for(200ms);
        BOOST_TEST(!granted);
        co_await held.release();
        BOOST_TEST(co_await co_eventually(1s, [&] { return granted; }));
    });
}
