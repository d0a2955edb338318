// The leases of one owner live on executors of their own: one may block, stop or be destroyed
// without harm to the holders on the others.

#include "support/one_server.hpp"
#include "support/run_contexts.hpp"
#include "support/running_context.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

using namespace holdfast::test;
using holdfast::lease;
using holdfast::owner;

namespace {

holdfast::config short_leases(redis_server const& server) {
    auto settings = holdfast::parse_url(server.url());
    settings.lease = 1s;
    return settings;
}

/// Acquires with a handler that runs on `context`, while somebody runs both contexts.
void acquire_on(
    asio::io_context& context,
    holdfast::client& client,
    owner const& me,
    lease& granted,
    std::atomic<bool>& done
) {
    client.lock("a")
        .acquire({.owner = me}, asio::bind_executor(context, [&](error_code ec, lease given) {
                     // No check here: Boost.Test is not for two threads.
                     granted = std::move(given);
                     done = !ec;
                 }));
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_holder_is_told_on_his_own_executor) {
    redis_server server;
    running_context clients;
    running_context mine;
    asio::io_context stuck;  // runs once, to acquire
    holdfast::client client{clients.get(), short_leases(server)};
    auto const me = owner::make();
    lease first;
    lease second;
    std::atomic<bool> first_done{false};
    std::atomic<bool> second_done{false};
    acquire_on(stuck, client, me, first, first_done);
    BOOST_TEST(run_until({&stuck}, 5s, [&] { return first_done.load(); }));
    run_for({&stuck}, 60ms);
    acquire_on(mine.get(), client, me, second, second_done);
    BOOST_TEST(eventually(5s, [&] { return second_done.load(); }));

    // Nobody renews it: the first holder blocks. The second learns of the end.
    std::promise<std::pair<loss_reason, std::thread::id>> told;
    second.wait_lost([&](error_code, loss_reason reason) {
        told.set_value({reason, std::this_thread::get_id()});
    });
    auto const [reason, thread] = told.get_future().get();
    BOOST_TEST((reason == loss_reason::expired));
    BOOST_TEST(mine.runs(thread));
    BOOST_TEST((first.state() == lease_state::lost));
    first = {};
    second = {};
    client.shutdown(asio::use_future).get();
}

BOOST_AUTO_TEST_CASE(a_holder_may_block_for_what_his_own_further_lease_does) {
    redis_server server;
    running_context clients;
    asio::thread_pool pool{2};
    holdfast::client client{clients.get(), server.url()};
    auto const lock = client.lock("a");
    auto const me = owner::make();
    auto body = [&](lease& held) -> asio::awaitable<int> { co_return held.valid() ? 7 : 0; };
    auto inner = [&]() -> asio::awaitable<int> {
        co_return co_await holdfast::with_lease(lock, body, {.owner = me});
    };
    auto outer = [&]() -> asio::awaitable<int> {
        auto mine = co_await lock.acquire({.owner = me});
        int got = 0;
        for (int i = 0; i < 20; ++i) {
            auto result = asio::co_spawn(pool, inner, asio::use_future);
            if (result.wait_for(10s) == std::future_status::ready) {
                got += result.get();
            }
        }
        co_await mine.release();
        co_return got;
    };
    running_context blocked;
    BOOST_TEST(asio::co_spawn(blocked.get(), outer, asio::use_future).get() == 140);
    client.shutdown(asio::use_future).get();
    pool.join();
}

// After a loss the owner waits for its own old key, until that is released.
BOOST_AUTO_TEST_CASE(an_owner_waits_until_its_lost_lease_is_released) {
    redis_server server;
    running_context clients;
    auto settings = holdfast::parse_url(server.url());
    settings.lease = 6s;
    holdfast::client client{clients.get(), settings};
    auto const lock = client.lock("a");
    auto const me = owner::make();
    auto old = lock.acquire({.renew_at = 0.5, .max_hold = 6s, .owner = me}, asio::use_future).get();
    old.wait_lost(asio::use_future).get();
    BOOST_TEST((old.loss() == loss_reason::max_hold));
    BOOST_TEST(server.probe().exists("a"));
    lease const busy = lock.try_acquire({.owner = me}, asio::use_future).get();
    BOOST_TEST(!busy);
    auto waiting = lock.acquire({.owner = me}, asio::use_future);
    BOOST_TEST((waiting.wait_for(100ms) == std::future_status::timeout));
    old = {};
    auto again = waiting.get();
    BOOST_TEST(again.valid());
    BOOST_TEST((again.token().value > 0));
    again.release(asio::use_future).get();
    client.shutdown(asio::use_future).get();
}
