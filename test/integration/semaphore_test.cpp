// Permits on a real server: how many there are at a time, and who may have them.

#include "integration/semaphore_fixture.hpp"

#include <cstdint>

using namespace holdfast::test;
using namespace holdfast::test::permits;

BOOST_AUTO_TEST_CASE(so_many_hold_permits_and_no_more) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const pool = client.semaphore("{}", "L");
        BOOST_TEST(co_await pool.try_set_permits(3));
        BOOST_TEST(!co_await pool.try_set_permits(3));
        auto const [other, now] = co_await pool.try_set_permits(4, as_result);
        BOOST_TEST((other == errc::limit_mismatch));
        BOOST_TEST(!now);
        BOOST_TEST(pool.name() == "L");

        auto first = co_await pool.acquire();
        auto const two = pool.permits(2);
        auto second = co_await two.try_acquire();
        BOOST_REQUIRE(bool(second));
        BOOST_TEST((second.token() > first.token()));
        BOOST_TEST(co_await pool.available() == 0);
        auto const [same, none_set] = co_await pool.try_set_permits(3, as_result);
        BOOST_TEST(!same);
        BOOST_TEST(!none_set);
        auto const info = co_await pool.inspect();
        BOOST_TEST(info.limit.value() == 3);
        BOOST_TEST(info.available == 0);
        BOOST_TEST(info.acquired == 3);
        BOOST_TEST(info.waiting == 0U);
        BOOST_TEST(probe.cmd("ZCARD", deadlines).as_integer() == 3);
        auto const members = probe.cmd("ZRANGE", deadlines, 0, -1);
        for (auto const& permit : members.as_array()) {
            BOOST_TEST(permit.as_string().size() == 16U);
        }
        auto none = co_await pool.try_acquire();
        BOOST_TEST(!none);
        auto late = co_await pool.try_acquire_for(500ms);
        BOOST_TEST(!late);
        co_await second.release();
        BOOST_TEST(co_await pool.available() == 2);
        auto third = co_await two.acquire();
        co_await first.release();
        co_await third.release();
        BOOST_TEST(co_await co_eventually(2s, [&] { return nothing_left(probe, 3); }));
        BOOST_TEST(probe.pttl("L") == -1);
        BOOST_TEST(probe.pttl(counter) > 0);
    });
}

BOOST_AUTO_TEST_CASE(a_number_that_cannot_be_had_is_an_error) {
    with_client([](holdfast::client& client, redis_probe& probe) -> task {
        auto const pool = client.semaphore("L");
        BOOST_TEST(co_await pool.try_set_permits(3));
        for (std::int64_t const wrong : {0, -1, 4, 1001}) {
            auto const wanted = pool.permits(wrong);
            auto const [ec, lease] = co_await wanted.acquire(as_result);
            BOOST_TEST((ec == errc::invalid_options), wrong);
            auto const [tried, none] = co_await wanted.try_acquire(as_result);
            BOOST_TEST((tried == errc::invalid_options), wrong);
        }
        for (std::int64_t const wrong :
             {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 31}) {
            auto const [ec, now] = co_await pool.try_set_permits(wrong, as_result);
            BOOST_TEST((ec == errc::invalid_options), wrong);
        }
        auto const many = client.semaphore("M");
        BOOST_TEST(co_await many.try_set_permits(1000));
        auto const thousand = many.permits(1000);
        auto everything = co_await thousand.acquire();
        BOOST_TEST(bool(everything));
        BOOST_TEST(probe.cmd("ZCARD", "{M}:timeout").as_integer() == 1000);
        co_await everything.renew();
        co_await everything.release();
        BOOST_TEST(probe.get("M").value() == "1000");
        // One that waits learns of it, too.
        auto const all = pool.permits(3);
        auto lease = co_await all.acquire();
        error_code end;
        all.acquire([&end](error_code ec, holdfast::lease) { end = ec; });
        BOOST_TEST(co_await co_eventually(5s, [&] { return queued(probe, 1); }));
        probe.cmd("INCRBY", "L", -1);
        BOOST_TEST(co_await co_eventually(5s, [&] { return end == errc::invalid_options; }));
        co_await lease.release();
        BOOST_TEST(co_await co_eventually(2s, [&] { return nothing_left(probe, 2); }));
    });
}
