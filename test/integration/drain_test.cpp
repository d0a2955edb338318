// A client that is drained takes no new acquisitions, waits for its holders, and stops.

#include "support/one_server.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace holdfast::test;

namespace {

// What `drain` completes with, and when.
struct draining {
    std::optional<error_code> ec;
    lease_clock::time_point at{};
};

std::shared_ptr<draining> drain(holdfast::client& client, std::chrono::nanoseconds timeout) {
    auto result = std::make_shared<draining>();
    client.drain(timeout, [result](error_code ec) {
        result->ec = ec;
        result->at = lease_clock::now();
    });
    return result;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_drain_waits_for_the_holders_and_refuses_new_ones) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        holdfast::client other{executor, server.url()};
        auto theirs = co_await other.lock("theirs").acquire();
        auto first = co_await client.lock("a").acquire();
        auto second = co_await client.lock("b").acquire();
        auto const waiting = start_acquire(client.lock("theirs"));
        co_await sleep_for(100ms);

        auto const drained = drain(client, 20s);
        // An acquisition that waits ends as those that come later.
        BOOST_TEST(co_await co_eventually(2s, [&] { return waiting->done; }));
        BOOST_TEST((waiting->error == errc::client_stopped));
        auto [late, none] = co_await client.lock("c").acquire(as_result);
        BOOST_TEST((late == errc::client_stopped));
        auto [tried, nothing] = co_await client.lock("c").try_acquire(as_result);
        BOOST_TEST((tried == errc::client_stopped));

        co_await sleep_for(300ms);
        BOOST_TEST(!drained->ec);
        BOOST_TEST(first.valid());
        BOOST_TEST(second.valid());
        BOOST_TEST(!co_await renew(first));
        BOOST_TEST(!co_await release(first));
        co_await sleep_for(100ms);
        BOOST_TEST(!drained->ec);
        second = {};  // dropped, not awaited
        BOOST_TEST(co_await co_eventually(2s, [&] { return drained->ec.has_value(); }));
        BOOST_TEST(!*drained->ec, drained->ec->message());
        BOOST_TEST(server.probe().lock_keys() == std::vector<std::string>{"theirs"});
        auto [stopped, no_info] = co_await client.lock("c").inspect(as_result);
        BOOST_TEST((stopped == errc::client_stopped));
    });
}

BOOST_AUTO_TEST_CASE(a_shutdown_ends_a_drain) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto const held = co_await client.lock("a").acquire();
        auto const drained = drain(client, 60s);
        auto [ec] = co_await client.shutdown(as_result);
        BOOST_TEST(!ec);
        BOOST_TEST(co_await co_eventually(2s, [&] { return drained->ec.has_value(); }));
        BOOST_TEST((held.loss() == loss_reason::client_stopped));
    });
}
