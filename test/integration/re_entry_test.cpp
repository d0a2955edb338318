// An owner acquires a lock that it holds already: further leases on one grant, and what becomes of
// them.

#include "support/gated_server.hpp"

#include <boost/asio/cancel_after.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

using namespace holdfast::test;
using holdfast::lease;
using holdfast::owner;

BOOST_AUTO_TEST_CASE(the_same_owner_gets_a_further_lease_on_the_same_grant) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        auto const lock = client.lock("a");
        auto const me = owner::make();
        auto first = co_await lock.acquire({.owner = me});
        auto const sent = server.arrived();
        auto second = co_await client.lock("a").acquire({.owner = me});
        auto third = co_await lock.try_acquire({.owner = me});
        auto fourth = co_await lock.try_acquire_for(1s, {.owner = me});
        for (auto const* one : {&first, &second, &third, &fourth}) {
            BOOST_TEST(one->valid());
            BOOST_TEST((one->token() == first.token()));
            BOOST_TEST((one->deadline() == first.deadline()));
        }
        BOOST_TEST(server.arrived() == sent);  // the server was not asked
        BOOST_TEST(client.stats().re_entries == 3U);
        BOOST_TEST(client.stats().grants == 1U);
        BOOST_TEST(client.stats().leases_now == 1U);

        // In any order; the last one frees the lock.
        co_await first.release();
        co_await third.release();
        fourth = {};
        BOOST_TEST(second.valid());
        BOOST_TEST(server.exists("a"));
        BOOST_TEST(server.arrived() == sent);
        co_await second.release();
        BOOST_TEST(server.lock_keys().empty());
        BOOST_TEST(client.stats().leases_now == 0U);

        // Nothing is left of the old grant.
        auto again = co_await lock.acquire({.owner = me});
        BOOST_TEST((again.token() > first.token()));
        co_await again.release();
    });
}

BOOST_AUTO_TEST_CASE(nobody_else_gets_in) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        auto const lock = client.lock("a");
        auto const me = owner::make();
        auto const copy = me;
        auto lease = co_await lock.acquire({.owner = me});
        auto further = co_await lock.try_acquire({.owner = copy});
        BOOST_TEST(further.valid());
        auto const nothing_for_a_stranger = co_await lock.try_acquire({.owner = owner::make()});
        BOOST_TEST(!nothing_for_a_stranger);
        auto const nothing_without_an_owner = co_await lock.try_acquire();
        BOOST_TEST(!nothing_without_an_owner);
        auto [ec, none] =
            co_await lock.acquire({.owner = owner::make()}, asio::cancel_after(50ms, as_result));
        BOOST_TEST((ec == asio::error::operation_aborted));
        // An owner means nothing to another client, nor for another lock.
        auto const executor = co_await asio::this_coro::executor;
        auto other = server.make_client(executor);
        auto const nothing_elsewhere = co_await other.lock("a").try_acquire({.owner = me});
        BOOST_TEST(!nothing_elsewhere);
        auto elsewhere = co_await client.lock("b").acquire({.owner = me});
        BOOST_TEST((elsewhere.token() != lease.token()));
        co_await elsewhere.release();

        co_await lease.release();
        auto const nothing_yet = co_await lock.try_acquire();
        BOOST_TEST(!nothing_yet);
        co_await further.release();
        auto now = co_await lock.try_acquire();
        BOOST_TEST(now.valid());
    });
}

BOOST_AUTO_TEST_CASE(each_lease_ends_by_itself) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        auto const me = owner::make();
        auto first = co_await client.lock("a").acquire({.owner = me});
        auto second = co_await client.lock("a").acquire({.owner = me});
        std::optional<error_code> first_wait;
        std::optional<error_code> second_wait;
        first.wait_lost([&](error_code ec, loss_reason) { first_wait = ec; });
        second.wait_lost([&](error_code ec, loss_reason) { second_wait = ec; });

        co_await first.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return first_wait.has_value(); }));
        BOOST_TEST((first_wait == errc::not_held));
        BOOST_TEST(!second_wait.has_value());
        BOOST_TEST((first.state() == lease_state::empty));
        BOOST_TEST((second.state() == lease_state::held));
        auto [released] = co_await first.release(as_result);
        BOOST_TEST((released == errc::not_held));
        auto [renewed] = co_await first.renew(as_result);
        BOOST_TEST((renewed == errc::not_held));
        auto [waited, reason] = co_await first.wait_lost(as_result);
        BOOST_TEST((waited == errc::not_held));
        BOOST_TEST(second.valid());

        auto const before = second.deadline();
        co_await sleep_for(2ms);
        co_await second.renew();
        BOOST_TEST((second.deadline() > before));
        co_await second.release();
        BOOST_TEST(co_await co_eventually(5s, [&] { return second_wait.has_value(); }));
        BOOST_TEST((second_wait == errc::not_held));
        BOOST_TEST(server.lock_keys().empty());
    });
}

BOOST_AUTO_TEST_CASE(a_loss_is_told_to_every_lease) {
    with_gates(
        [](gated_server& server, holdfast::client& client) -> task {
            auto const lock = client.lock("a");
            auto const me = owner::make();
            auto first = co_await lock.acquire({.owner = me});
            auto second = co_await lock.acquire({.owner = me});
            auto third = co_await lock.acquire({.owner = me});
            co_await third.release();
            server.del("a");
            auto [ec, reason] = co_await second.wait_lost(as_result);
            BOOST_TEST(!ec);
            BOOST_TEST((reason == loss_reason::deleted));
            BOOST_TEST((first.state() == lease_state::lost));
            BOOST_TEST((first.loss() == loss_reason::deleted));
            BOOST_TEST((third.state() == lease_state::empty));
            BOOST_TEST((third.loss() == loss_reason::none));
            BOOST_TEST(client.stats().losses.deleted == 1U);

            // What was lost cannot be joined any more: this is a new grant.
            auto again = co_await lock.acquire({.owner = me});
            BOOST_TEST(again.valid());
            BOOST_TEST((again.token() > first.token()));
            auto [one] = co_await first.release(as_result);
            BOOST_TEST((one == errc::lease_lost));
            auto further = co_await lock.acquire({.owner = me});
            BOOST_TEST((further.token() == again.token()));
            auto [two] = co_await second.release(as_result);
            BOOST_TEST((two == errc::lease_lost));
            BOOST_TEST(again.valid());
            BOOST_TEST(server.exists("a"));
            auto last = co_await lock.acquire({.owner = me});
            BOOST_TEST((last.token() == again.token()));
            co_await again.release();
            co_await further.release();
            co_await last.release();
            BOOST_TEST(server.lock_keys().empty());
        },
        short_config()
    );
}

BOOST_AUTO_TEST_CASE(the_first_leases_options_govern_and_the_others_must_be_valid) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        auto const lock = client.lock("a");
        auto const me = owner::make();
        auto first = co_await lock.acquire({.lease = 10min, .owner = me});
        auto second = co_await lock.acquire({.lease = 5h, .owner = me});
        BOOST_TEST((second.remaining() <= 10min));
        BOOST_TEST(server.pttl("a") <= 600'000);
        auto [wrong, none] = co_await lock.acquire({.lease = 1ms, .owner = me}, as_result);
        BOOST_TEST((wrong == errc::invalid_lease));
        auto [negative, nothing] = co_await lock.try_acquire_for(-1s, {.owner = me}, as_result);
        BOOST_TEST((negative == errc::invalid_options));
    });
}

BOOST_AUTO_TEST_CASE(max_hold_ends_the_leases_that_came_later_too) {
    with_gates(
        [](gated_server&, holdfast::client& client) -> task {
            auto const me = owner::make();
            auto first = co_await client.lock("a").acquire({.max_hold = 5s, .owner = me});
            auto second = co_await client.lock("a").acquire({.max_hold = 1h, .owner = me});
            co_await first.release();
            auto [ec, reason] = co_await second.wait_lost(as_result);
            BOOST_TEST(!ec);
            BOOST_TEST((reason == loss_reason::max_hold));
        },
        short_config()
    );
}

BOOST_AUTO_TEST_CASE(a_valid_lease_can_be_joined_without_a_connection) {
    with_alice("~* &* +@all", [](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, as_alice(server)};
        auto const lock = client.lock("a");
        auto const me = owner::make();
        auto first = co_await lock.acquire({.owner = me});
        server.probe().cmd("ACL", "DELUSER", "alice");
        BOOST_TEST(co_await co_eventually(5s, [&] {
            return first.state() == lease_state::in_doubt;
        }));
        auto second = co_await lock.acquire({.owner = me});
        BOOST_TEST((second.state() == lease_state::in_doubt));
        auto third = co_await lock.try_acquire({.owner = me});
        BOOST_TEST(third.valid());
        // A permanent cause does not take it away from its owner either.
        auto [refused, none] = co_await client.lock("b").acquire(as_result);
        BOOST_TEST((refused == errc::auth_failed));
        auto fourth = co_await lock.acquire({.owner = me});
        BOOST_TEST(fourth.valid());
    });
}

BOOST_AUTO_TEST_CASE(with_lease_can_be_nested_for_one_owner) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        auto const lock = client.lock("a");
        auto const me = owner::make();
        holdfast::fencing_token inner_token;
        auto inner = [&](lease& mine) -> asio::awaitable<int> {
            inner_token = mine.token();
            co_return 7;
        };
        auto outer = [&](lease& mine) -> asio::awaitable<int> {
            auto const seven = co_await holdfast::with_lease(lock, inner, {.owner = me});
            BOOST_TEST((inner_token == mine.token()));
            BOOST_TEST(mine.valid());
            BOOST_TEST(server.exists("a"));
            co_return seven;
        };
        BOOST_TEST(co_await holdfast::with_lease(lock, outer, {.owner = me}) == 7);
        BOOST_TEST(server.lock_keys().empty());
    });
}

// The last release and the next acquisition of an owner meet on different threads: either the
// grant goes on, or there is a new one; never a lease without a grant.
BOOST_AUTO_TEST_CASE(leases_of_one_owner_may_come_and_go_on_four_threads) {
    constexpr int threads = 4;
    constexpr int rounds = 500;
    redis_server server;
    asio::thread_pool pool{2};
    auto settings = holdfast::parse_url(server.url());
    holdfast::client client{pool, settings};
    auto const lock = client.lock("a");
    auto const me = owner::make();
    std::atomic<int> wrong{0};
    std::atomic<int> done{0};
    {
        std::vector<std::thread> all;
        for (int i = 0; i < threads; ++i) {
            all.emplace_back([&] {
                for (int n = 0; n < rounds; ++n) {
                    auto mine = lock.acquire({.owner = me}, asio::use_future).get();
                    if (!mine.valid() || mine.token().value == 0) {
                        ++wrong;
                    }
                    if (n % 3 != 0) {
                        mine.release(asio::use_future).get();
                    }
                    ++done;
                }
            });
        }
        for (auto& thread : all) {
            thread.join();
        }
    }
    BOOST_TEST(wrong == 0);
    BOOST_TEST(done == threads * rounds);
    auto const stats = client.stats();
    BOOST_TEST(stats.grants + stats.re_entries == static_cast<std::uint64_t>(threads * rounds));
    BOOST_TEST(stats.re_entries > 0U);
    client.shutdown(asio::use_future).get();
    BOOST_TEST(!server.probe().exists("a"));
    pool.join();
}
