// How long locks are waited for and held, as sums: with the counts they give the mean.

#include "support/one_server.hpp"

using namespace holdfast::test;

BOOST_AUTO_TEST_CASE(the_time_that_acquisitions_waited_is_summed_up) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto held = co_await client.lock("a").acquire();
        auto const first = client.stats().total_wait;
        BOOST_TEST((first > 0ns));  // a round trip
        auto const start = lease_clock::now();
        auto const second = start_acquire(client.lock("a"));
        auto const third = start_acquire(client.lock("a"));
        co_await sleep_for(300ms);
        BOOST_TEST(!co_await release(held));
        BOOST_TEST(co_await co_eventually(2s, [&] { return second->done; }));
        BOOST_TEST(!co_await release(second->held));
        BOOST_TEST(co_await co_eventually(2s, [&] { return third->done; }));
        auto const waited = client.stats().total_wait - first;
        BOOST_TEST((waited >= 600ms));
        BOOST_TEST((waited <= 2 * (lease_clock::now() - start)));
    });
}

BOOST_AUTO_TEST_CASE(the_time_that_leases_were_held_is_summed_up) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto const start = lease_clock::now();
        auto first = co_await client.lock("a").acquire();
        auto second = co_await client.lock("b").acquire();
        co_await sleep_for(300ms);
        BOOST_TEST(!co_await release(first));
        second = {};
        BOOST_TEST(co_await co_eventually(2s, [&] { return client.stats().leases_now == 0; }));
        auto const held = client.stats().total_hold;
        BOOST_TEST((held >= 600ms));
        BOOST_TEST((held <= 2 * (lease_clock::now() - start)));
    });
}
