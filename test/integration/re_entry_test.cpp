// An owner acquires a lock that it holds already: further leases on one grant, and what becomes of
// them.

#include "support/fake_client.hpp"
#include "support/redis_probe.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::error_code;
using holdfast::lease;
using holdfast::lease_state;
using holdfast::loss_reason;
using holdfast::owner;
using holdfast::test::co_eventually;
using holdfast::test::fake_server;
using holdfast::test::redis_server;
using holdfast::test::run_with_deadline;
using holdfast::test::short_config;
using holdfast::test::sleep_for;
using holdfast::test::with_fake_client;

namespace {

constexpr auto awaited = asio::use_awaitable;
constexpr auto as_code = asio::as_tuple(asio::use_awaitable);

/// Starts an acquisition and keeps what comes of it.
struct started {
    std::optional<error_code> ec;
    lease granted;

    template <class Operation>
    explicit started(Operation operation) {
        std::move(operation)([this](error_code result, lease given) {
            ec = result;
            granted = std::move(given);
        });
    }
    started(started const&) = delete;
    started& operator=(started const&) = delete;
};

}  // namespace

// 100, S17

BOOST_AUTO_TEST_CASE(fault_100_the_same_owner_gets_a_further_lease_on_the_same_grant) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        auto const lock = client.lock("a");
        auto const me = owner::make();
        auto first = co_await lock.acquire(me, awaited);
        auto const sent = server.arrived();
        auto second = co_await client.lock("a").acquire(me, awaited);
        auto third = co_await lock.try_acquire(me, awaited);
        auto fourth = co_await lock.try_acquire_for(me, 1s, awaited);
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
        co_await first.release(awaited);
        co_await third.release(awaited);
        fourth = {};
        BOOST_TEST(second.valid());
        BOOST_TEST(server.exists("a"));
        BOOST_TEST(server.arrived() == sent);
        co_await second.release(awaited);
        BOOST_TEST(server.lock_keys().empty());
        BOOST_TEST(client.stats().leases_now == 0U);

        // Nothing is left of the old grant.
        auto again = co_await lock.acquire(me, awaited);
        BOOST_TEST((again.token() > first.token()));
        co_await again.release(awaited);
    });
}

BOOST_AUTO_TEST_CASE(the_last_lease_may_also_just_be_dropped) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        auto const me = owner::make();
        {
            auto const first = co_await client.lock("a").acquire(me, awaited);
            auto const second = co_await client.lock("a").acquire(me, awaited);
        }
        BOOST_TEST(co_await co_eventually(5s, [&] { return server.lock_keys().empty(); }));
    });
}

BOOST_AUTO_TEST_CASE(nobody_else_gets_in) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        auto const lock = client.lock("a");
        auto const me = owner::make();
        auto const copy = me;
        auto lease = co_await lock.acquire(me, awaited);
        auto further = co_await lock.try_acquire(copy, awaited);
        BOOST_TEST(further.valid());
        auto const nothing_for_a_stranger = co_await lock.try_acquire(owner::make(), awaited);
        BOOST_TEST(!nothing_for_a_stranger);
        auto const nothing_without_an_owner = co_await lock.try_acquire(awaited);
        BOOST_TEST(!nothing_without_an_owner);
        auto [ec, none] = co_await lock.acquire(owner::make(), asio::cancel_after(50ms, as_code));
        BOOST_TEST((ec == asio::error::operation_aborted));
        // An owner means nothing to another client, nor for another lock.
        auto const executor = co_await asio::this_coro::executor;
        auto other = server.make_client(executor);
        auto const nothing_elsewhere = co_await other.lock("a").try_acquire(me, awaited);
        BOOST_TEST(!nothing_elsewhere);
        auto elsewhere = co_await client.lock("b").acquire(me, awaited);
        BOOST_TEST((elsewhere.token() != lease.token()));
        co_await elsewhere.release(awaited);

        co_await lease.release(awaited);
        auto const nothing_yet = co_await lock.try_acquire(awaited);
        BOOST_TEST(!nothing_yet);
        co_await further.release(awaited);
        auto now = co_await lock.try_acquire(awaited);
        BOOST_TEST(now.valid());
    });
}

BOOST_AUTO_TEST_CASE(each_lease_ends_by_itself) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        auto const me = owner::make();
        auto first = co_await client.lock("a").acquire(me, awaited);
        auto second = co_await client.lock("a").acquire(me, awaited);
        std::optional<error_code> first_wait;
        std::optional<error_code> second_wait;
        first.wait_lost([&](error_code ec, loss_reason) { first_wait = ec; });
        second.wait_lost([&](error_code ec, loss_reason) { second_wait = ec; });

        co_await first.release(awaited);
        BOOST_TEST(co_await co_eventually(5s, [&] { return first_wait.has_value(); }));
        BOOST_TEST((first_wait == errc::not_held));
        BOOST_TEST(!second_wait.has_value());
        BOOST_TEST((first.state() == lease_state::empty));
        BOOST_TEST((second.state() == lease_state::held));
        auto [released] = co_await first.release(as_code);
        BOOST_TEST((released == errc::not_held));
        auto [renewed] = co_await first.renew(as_code);
        BOOST_TEST((renewed == errc::not_held));
        auto [waited, reason] = co_await first.wait_lost(as_code);
        BOOST_TEST((waited == errc::not_held));
        BOOST_TEST(second.valid());

        auto const before = second.deadline();
        co_await sleep_for(2ms);
        co_await second.renew(awaited);
        BOOST_TEST((second.deadline() > before));
        co_await second.release(awaited);
        BOOST_TEST(co_await co_eventually(5s, [&] { return second_wait.has_value(); }));
        BOOST_TEST((second_wait == errc::not_held));
        BOOST_TEST(server.lock_keys().empty());
    });
}

BOOST_AUTO_TEST_CASE(a_loss_is_told_to_every_lease) {
    with_fake_client(
        [](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
            auto const lock = client.lock("a");
            auto const me = owner::make();
            auto first = co_await lock.acquire(me, awaited);
            auto second = co_await lock.acquire(me, awaited);
            auto third = co_await lock.acquire(me, awaited);
            co_await third.release(awaited);
            server.del("a");
            auto [ec, reason] = co_await second.wait_lost(as_code);
            BOOST_TEST(!ec);
            BOOST_TEST((reason == loss_reason::deleted));
            BOOST_TEST((first.state() == lease_state::lost));
            BOOST_TEST((first.loss() == loss_reason::deleted));
            BOOST_TEST((third.state() == lease_state::empty));
            BOOST_TEST((third.loss() == loss_reason::none));
            BOOST_TEST(client.stats().losses.deleted == 1U);

            // What was lost cannot be joined any more: this is a new grant.
            auto again = co_await lock.acquire(me, awaited);
            BOOST_TEST(again.valid());
            BOOST_TEST((again.token() > first.token()));
            auto [one] = co_await first.release(as_code);
            BOOST_TEST((one == errc::lease_lost));
            auto further = co_await lock.acquire(me, awaited);
            BOOST_TEST((further.token() == again.token()));
            auto [two] = co_await second.release(as_code);
            BOOST_TEST((two == errc::lease_lost));
            BOOST_TEST(again.valid());
            BOOST_TEST(server.exists("a"));
            auto last = co_await lock.acquire(me, awaited);
            BOOST_TEST((last.token() == again.token()));
            co_await again.release(awaited);
            co_await further.release(awaited);
            co_await last.release(awaited);
            BOOST_TEST(server.lock_keys().empty());
        },
        short_config()
    );
}

BOOST_AUTO_TEST_CASE(acquisitions_of_one_owner_that_wait_are_granted_together) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        auto const lock = client.lock("a");
        auto const me = owner::make();
        server.lock_as_other("a", 1h);
        started first{lock.acquire(me, asio::deferred)};
        started stranger{lock.acquire(asio::deferred)};
        started second{lock.acquire(me, asio::deferred)};
        started third{lock.try_acquire_for(me, 1min, asio::deferred)};
        BOOST_TEST(co_await co_eventually(5s, [&] { return client.stats().waiters_now == 4; }));
        server.unlock_as_other("a");
        BOOST_TEST(co_await co_eventually(5s, [&] { return first.ec && second.ec && third.ec; }));
        BOOST_TEST((first.granted.token() == second.granted.token()));
        BOOST_TEST((first.granted.token() == third.granted.token()));
        BOOST_TEST(third.granted.valid());
        BOOST_TEST(!stranger.ec.has_value());
        BOOST_TEST(client.stats().waiters_now == 1U);

        // The one who waits behind them is woken by the last release.
        first.granted = {};
        third.granted = {};
        co_await sleep_for(20ms);
        BOOST_TEST(!stranger.ec.has_value());
        co_await second.granted.release(awaited);
        BOOST_TEST(co_await co_eventually(5s, [&] { return stranger.ec.has_value(); }));
        BOOST_TEST(stranger.granted.valid());
    });
}

// Two attempts of one owner are under way: the second would be told "busy" because of the first.
BOOST_AUTO_TEST_CASE(an_attempt_under_way_joins_and_leaves_nothing_behind) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        co_await client.ready(awaited);
        auto const lock = client.lock("a");
        auto const me = owner::make();
        server.hold_requests(true);
        started first{lock.acquire(me, asio::deferred)};
        started second{lock.try_acquire(me, asio::deferred)};
        started third{lock.try_acquire(me, asio::deferred)};
        BOOST_TEST(co_await co_eventually(5s, [&] { return server.arrived("acquire") == 3U; }));
        server.hold_requests(false);
        BOOST_TEST(co_await co_eventually(5s, [&] { return first.ec && second.ec && third.ec; }));
        for (auto const* one : {&first, &second, &third}) {
            BOOST_TEST(!*one->ec);
            BOOST_TEST(one->granted.valid());
            BOOST_TEST((one->granted.token() == first.granted.token()));
        }
        // Their own attempts were withdrawn, each by its own holder id: the grant stands.
        BOOST_TEST(co_await co_eventually(5s, [&] { return server.executed("release") == 2U; }));
        BOOST_TEST(server.exists("a"));
        co_await first.granted.release(awaited);
        co_await second.granted.release(awaited);
        BOOST_TEST(server.exists("a"));
        co_await third.granted.release(awaited);
        BOOST_TEST(server.lock_keys().empty());
    });
}

// The one whose turn it is has an attempt under way when it joins; a stranger is behind it.
BOOST_AUTO_TEST_CASE(a_room_goes_on_after_its_first_waiter_joined) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        co_await client.ready(awaited);
        auto const lock = client.lock("a");
        auto const me = owner::make();
        server.hold_requests(true);
        started single{lock.try_acquire(me, asio::deferred)};
        started head{lock.acquire(me, asio::deferred)};
        started stranger{lock.acquire(asio::deferred)};
        BOOST_TEST(co_await co_eventually(5s, [&] { return server.arrived("acquire") == 2U; }));
        server.hold_requests(false);
        BOOST_TEST(co_await co_eventually(5s, [&] { return single.ec && head.ec; }));
        BOOST_TEST((single.granted.token() == head.granted.token()));
        co_await sleep_for(20ms);
        BOOST_TEST(!stranger.ec.has_value());
        co_await single.granted.release(awaited);
        co_await head.granted.release(awaited);
        BOOST_TEST(co_await co_eventually(5s, [&] { return stranger.ec.has_value(); }));
        BOOST_TEST(stranger.granted.valid());
        co_await stranger.granted.release(awaited);
        BOOST_TEST(server.lock_keys().empty());
    });
}

BOOST_AUTO_TEST_CASE(those_who_join_cost_no_command) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        co_await client.ready(awaited);
        auto const lock = client.lock("a");
        auto const me = owner::make();
        started first{lock.acquire(me, asio::deferred)};
        started second{lock.acquire(me, asio::deferred)};
        started third{lock.acquire(me, asio::deferred)};
        BOOST_TEST(co_await co_eventually(5s, [&] { return first.ec && second.ec && third.ec; }));
        BOOST_TEST(server.arrived() == 1U);
        BOOST_TEST(server.subscriptions() == 0U);
    });
}

// Nothing of an owner is kept for an acquisition that was turned away.
BOOST_AUTO_TEST_CASE(a_full_room_turns_owners_away) {
    auto settings = holdfast::test::patient_config();
    settings.max_waiters = 1;
    with_fake_client(
        [](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
            auto const lock = client.lock("a");
            auto const me = owner::make();
            server.lock_as_other("a", 1h);
            started first{lock.acquire(me, asio::deferred)};
            auto [ec, none] = co_await lock.acquire(me, as_code);
            BOOST_TEST((ec == errc::too_many_waiters));
            server.unlock_as_other("a");
            BOOST_TEST(co_await co_eventually(5s, [&] { return first.ec.has_value(); }));
            BOOST_TEST(first.granted.valid());
            BOOST_TEST(client.stats().re_entries == 0U);
        },
        settings
    );
}

BOOST_AUTO_TEST_CASE(the_first_leases_options_govern_and_the_others_must_be_valid) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        auto const lock = client.lock("a");
        auto const me = owner::make();
        auto first = co_await lock.acquire(me, {.lease = 10min}, awaited);
        auto second = co_await lock.acquire(me, {.lease = 5h}, awaited);
        BOOST_TEST((second.remaining() <= 10min));
        BOOST_TEST(server.pttl("a") <= 600'000);
        auto [wrong, none] = co_await lock.acquire(me, {.lease = 1ms}, as_code);
        BOOST_TEST((wrong == errc::invalid_lease));
        auto [negative, nothing] = co_await lock.try_acquire_for(me, -1s, as_code);
        BOOST_TEST((negative == errc::invalid_options));
    });
}

BOOST_AUTO_TEST_CASE(max_hold_ends_the_leases_that_came_later_too) {
    with_fake_client(
        [](fake_server&, holdfast::client& client) -> asio::awaitable<void> {
            auto const me = owner::make();
            auto first = co_await client.lock("a").acquire(me, {.max_hold = 1s}, awaited);
            auto second = co_await client.lock("a").acquire(me, {.max_hold = 1h}, awaited);
            co_await first.release(awaited);
            auto [ec, reason] = co_await second.wait_lost(as_code);
            BOOST_TEST(!ec);
            BOOST_TEST((reason == loss_reason::max_hold));
        },
        short_config()
    );
}

// The first lease is gone, its grant and what renews it are not.
BOOST_AUTO_TEST_CASE(a_further_lease_is_renewed_after_the_first_was_released) {
    with_fake_client(
        [](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
            auto const me = owner::make();
            auto first = co_await client.lock("a").acquire(me, awaited);
            auto second = co_await client.lock("a").acquire(me, awaited);
            co_await first.release(awaited);
            auto const renewals = client.stats().renewals;
            BOOST_TEST(co_await co_eventually(20s, [&] {
                return client.stats().renewals >= renewals + 4;
            }));
            BOOST_TEST(second.valid());
            co_await second.release(awaited);
            BOOST_TEST(server.lock_keys().empty());
        },
        short_config()
    );
}

BOOST_AUTO_TEST_CASE(a_valid_lease_can_be_joined_without_a_connection) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        auto const me = owner::make();
        auto first = co_await client.lock("a").acquire(me, awaited);
        server.set_up(false);
        BOOST_TEST(co_await co_eventually(5s, [&] {
            return first.state() == lease_state::in_doubt;
        }));
        auto second = co_await client.lock("a").acquire(me, awaited);
        BOOST_TEST((second.state() == lease_state::in_doubt));
        auto third = co_await client.lock("a").try_acquire(me, awaited);
        BOOST_TEST(third.valid());
        // Nor does a cause that will not pass take it from who has it.
        server.fail(errc::auth_failed);
        auto [ec, fourth] = co_await client.lock("a").acquire(me, as_code);
        BOOST_TEST(!ec);
        BOOST_TEST(fourth.valid());
        server.set_up(true);
    });
}

BOOST_AUTO_TEST_CASE(a_stopped_client_gives_no_further_leases) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        auto const lock = client.lock("a");
        auto const me = owner::make();
        auto first = co_await lock.acquire(me, awaited);
        auto second = co_await lock.acquire(me, awaited);
        co_await client.shutdown(awaited);
        auto [ec, none] = co_await lock.acquire(me, as_code);
        BOOST_TEST((ec == errc::client_stopped));
        BOOST_TEST((second.loss() == loss_reason::client_stopped));
        auto [one] = co_await second.release(as_code);
        BOOST_TEST((one == errc::lease_lost));
        auto [two] = co_await first.release(as_code);
        BOOST_TEST((two == errc::lease_lost));
        BOOST_TEST(server.lock_keys().empty());
    });
}

BOOST_AUTO_TEST_CASE(a_wait_that_was_cancelled_or_ran_out_is_not_joined_later) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        auto const lock = client.lock("a");
        auto const me = owner::make();
        server.lock_as_other("a", 1h);
        started first{lock.acquire(me, asio::deferred)};
        auto [cut, none] = co_await lock.acquire(me, asio::cancel_after(30ms, as_code));
        BOOST_TEST((cut == asio::error::operation_aborted));
        auto const nothing = co_await lock.try_acquire_for(me, 30ms, awaited);
        BOOST_TEST(!nothing);
        server.unlock_as_other("a");
        BOOST_TEST(co_await co_eventually(5s, [&] { return first.ec.has_value(); }));
        BOOST_TEST(client.stats().re_entries == 0U);
        co_await first.granted.release(awaited);
        BOOST_TEST(server.lock_keys().empty());
    });
}

BOOST_AUTO_TEST_CASE(with_lease_can_be_nested_for_one_owner) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        auto const lock = client.lock("a");
        auto const me = owner::make();
        holdfast::fencing_token inner_token;
        auto inner = [&](lease& mine) -> asio::awaitable<int> {
            inner_token = mine.token();
            co_return 7;
        };
        auto outer = [&](lease& mine) -> asio::awaitable<int> {
            auto const seven = co_await holdfast::with_lease(lock, me, inner);
            BOOST_TEST((inner_token == mine.token()));
            BOOST_TEST(mine.valid());
            BOOST_TEST(server.exists("a"));
            co_return seven;
        };
        BOOST_TEST(co_await holdfast::with_lease(lock, me, outer) == 7);
        BOOST_TEST(server.lock_keys().empty());
    });
}

BOOST_AUTO_TEST_CASE(the_server_sees_one_holder) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        holdfast::client client{executor, server.url()};
        auto const lock = client.lock("a");
        auto const me = owner::make();
        auto first = co_await lock.acquire(me, awaited);
        auto second = co_await lock.acquire(me, awaited);
        auto const seen = co_await lock.inspect(awaited);
        BOOST_TEST(seen.hold_count == 1U);
        BOOST_TEST((seen.last_token == first.token()));
        co_await second.release(awaited);
        auto const still = co_await lock.inspect(awaited);
        BOOST_TEST(still.held);
        co_await first.release(awaited);
        auto const after = co_await lock.inspect(awaited);
        BOOST_TEST(!after.held);
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
                    auto mine = lock.acquire(me, asio::use_future).get();
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
