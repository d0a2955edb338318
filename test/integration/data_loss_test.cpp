// The lock's key disappears under its holder.

#include "support/one_server.hpp"

#include <boost/asio/redirect_error.hpp>

using namespace holdfast::test;

namespace {

constexpr auto lease = 3s;
constexpr auto renewal_period = 1s;
// For the round trip on a busy machine. Less than another period.
constexpr auto slack = 700ms;

}  // namespace

BOOST_AUTO_TEST_CASE(flushall_ends_every_lease_and_tokens_still_grow) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, short_leases(server.url(), lease)};
        holdfast::client other{executor, short_leases(server.url(), lease)};
        auto probe = server.probe();
        auto first = co_await client.lock("a").acquire();
        auto second = co_await client.lock("b").acquire();
        auto const lost_first = watch(first);
        auto const lost_second = watch(second);
        auto const waiting = start_acquire(other.lock("b"));
        co_await sleep_for(100ms);

        auto const start = lease_clock::now();
        probe.flushall();
        // The counter went too: tokens must grow all the same.
        auto again = co_await other.lock("a").acquire();
        BOOST_TEST(again.token().value > first.token().value);
        auto const both = [&] { return lost_first->told && lost_second->told; };
        BOOST_REQUIRE(co_await co_eventually(renewal_period + slack, both));
        BOOST_TEST((lost_first->reason == loss_reason::taken));
        BOOST_TEST((lost_second->reason == loss_reason::deleted));
        BOOST_TEST(((lost_first->at - start) < renewal_period + slack));
        BOOST_TEST(!first.valid());
        BOOST_TEST(!second.valid());

        // Nothing was published: the waiter tries again when the lease that it knew of would have
        // ended.
        BOOST_REQUIRE(co_await co_eventually(lease + 1s, [&] { return waiting->done; }));
        BOOST_TEST(waiting->held.valid());
        BOOST_TEST(waiting->held.token().value > second.token().value);
        BOOST_TEST((co_await release(first) == errc::lease_lost));
        BOOST_TEST((co_await release(second) == errc::lease_lost));
        BOOST_TEST(again.valid());
        BOOST_TEST(waiting->held.valid());
        BOOST_TEST(probe.exists("a"));
        BOOST_TEST(probe.exists("b"));
    });
}

BOOST_AUTO_TEST_CASE(an_operator_deletes_the_key) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, short_leases(server.url(), lease)};
        auto probe = server.probe();
        auto held = co_await client.lock("a").acquire();
        auto untouched = co_await client.lock("b").acquire();
        auto const lost = watch(held);
        co_await sleep_for(100ms);

        BOOST_TEST(probe.del("a") == 1);
        BOOST_TEST(held.valid());
        BOOST_REQUIRE(co_await co_eventually(renewal_period + slack, [&] { return lost->told; }));
        BOOST_TEST((lost->reason == loss_reason::deleted));
        BOOST_TEST((held.state() == lease_state::lost));
        BOOST_TEST((held.loss() == loss_reason::deleted));
        BOOST_TEST(client.stats().losses.deleted == 1U);

        // A renewal never makes a key.
        co_await sleep_for(renewal_period + 300ms);
        BOOST_TEST(!probe.exists("a"));
        BOOST_TEST((untouched.state() == lease_state::held));
        error_code ec;
        co_await held.renew(asio::redirect_error(asio::use_awaitable, ec));
        BOOST_TEST((ec == errc::lease_lost));
        BOOST_TEST((co_await release(held) == errc::lease_lost));
        BOOST_TEST(!probe.exists("a"));
        BOOST_TEST(!co_await release(untouched));
    });
}
