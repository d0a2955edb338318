// The leases of permits on a real server: how they are renewed, and how they end.

#include "integration/semaphore_fixture.hpp"

using namespace holdfast::test;
using namespace holdfast::test::permits;

BOOST_AUTO_TEST_CASE(a_permit_without_an_end_is_its_holders) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, with_patience(server, 200ms)};
        auto probe = server.probe();
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(1));
        probe.cmd("DECRBY", "L", 1);
        probe.cmd("ZADD", deadlines, never, java_permit);
        auto none = co_await pool.try_acquire_for(500ms, {.orphan_after = 100ms});
        BOOST_TEST(!none);
        BOOST_TEST(probe.cmd("ZSCORE", deadlines, java_permit).as_string() == never);
    });
}

BOOST_AUTO_TEST_CASE(permits_are_renewed_and_one_that_is_missing_loses_the_hold) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(5));
        auto const two = pool.permits(2);
        auto lease = co_await two.acquire({.lease = 1500ms, .renew_at = 0.1});
        auto kept = co_await pool.acquire({.lease = 1500ms, .renew_at = 0.1});
        co_await sleep_for(2500ms);
        BOOST_TEST(lease.valid());
        BOOST_TEST(client.stats().renewals > 4U);
        auto const permit = first_permit(probe);
        // As Redisson's reclaim does it with one that is over.
        probe.cmd("ZREM", deadlines, permit);
        probe.cmd("INCRBY", "L", 1);
        bool const of_two = co_await co_eventually(3s, [&] { return !lease.valid(); });
        auto& lost = of_two ? lease : kept;
        auto& other = of_two ? kept : lease;
        BOOST_TEST((lost.loss() == loss_reason::deleted));
        BOOST_TEST(other.valid());
        // What was left of the hold was given back.
        BOOST_TEST(free_permits(probe) == (of_two ? 4 : 3));
        auto const [ec] = co_await lost.release(as_result);
        BOOST_TEST((ec == errc::lease_lost));
        co_await other.release();
        BOOST_TEST(co_await co_eventually(2s, [&] { return nothing_left(probe, 5); }));
    });
}

BOOST_AUTO_TEST_CASE(a_lease_can_be_learned) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url(server.url());
        settings.lease = 30s;
        settings.learned_lease_min = 1s;
        settings.request_timeout = 100ms;
        holdfast::client client{executor, settings};
        auto probe = server.probe();
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(1));
        for (int i = 0; i < 3; ++i) {
            auto lease = co_await pool.acquire({.lease = holdfast::learned});
            co_await lease.release();
        }
        BOOST_TEST(probe.exists("holdfast_semaphore_hold:{L}"));
        auto lease = co_await pool.acquire({.lease = holdfast::learned});
        BOOST_TEST((lease.remaining() <= 1s));
        BOOST_TEST(lease.valid());
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(a_semaphore_with_an_end_ends_altogether) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const pool = client.semaphore("L");
        // As Redisson's trySetPermits with a time to live.
        probe.cmd("SET", "L", 2, "PX", 60'000);
        auto lease = co_await pool.acquire();
        BOOST_TEST(probe.pttl(deadlines) > 50'000);
        probe.del("L");
        co_await lease.release();
        // Its permits are not counted where nobody says how many there are.
        BOOST_TEST(!probe.exists("L"));
        BOOST_TEST(!probe.exists(deadlines));
    });
}
