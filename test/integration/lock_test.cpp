// Taking, waiting for and giving back a lock on a real server.

#include "support/redis_probe.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::test::redis_server;
using holdfast::test::run_with_deadline;

BOOST_AUTO_TEST_CASE(a_free_lock_is_granted_and_given_back) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, server.url()};
        auto lock = client.lock("stock:{}:{}", 7, "apple");
        auto lease = co_await lock.acquire(asio::use_awaitable);
        BOOST_TEST(lease.valid());
        BOOST_TEST(lease.token().value > 1'000'000'000'000'000U);
        auto probe = server.probe();
        BOOST_TEST(probe.exists("stock:7:apple"));
        co_await lease.release();
        BOOST_TEST(!lease);
        BOOST_TEST(!probe.exists("stock:7:apple"));
    });
}

BOOST_AUTO_TEST_CASE(a_waiter_gets_the_lock_when_it_is_released) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client first{executor, server.url()};
        holdfast::client second{executor, server.url()};
        auto held = co_await first.lock("a").acquire();
        auto busy = co_await second.lock("a").try_acquire();
        BOOST_TEST(!busy);
        bool granted = false;
        asio::co_spawn(
            executor,
            [&]() -> asio::awaitable<void> {
                auto lease = co_await second.lock("a").acquire();
                BOOST_TEST(lease.token().value > held.token().value);
                granted = true;
                co_await lease.release();
            },
            asio::detached
        );
        co_await holdfast::test::sleep_for(200ms);
        BOOST_TEST(!granted);
        co_await held.release();
        BOOST_TEST(co_await holdfast::test::co_eventually(1s, [&] { return granted; }));
    });
}
