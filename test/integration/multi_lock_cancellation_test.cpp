// An acquisition of several locks may be cancelled at any point, and leaves nothing; nor does a
// reply that is lost cost it the locks.

#include "integration/multi_lock_fixture.hpp"

#include <functional>

using namespace holdfast::test;
using asio::cancellation_type;

BOOST_AUTO_TEST_CASE(a_cancellation_at_any_point_leaves_nothing) {
    using prepare = std::function<void(gated_server&)>;
    struct {
        char const* what;
        prepare before;
        // It has come so far.
        std::function<bool(gated_server&, holdfast::client&)> reached;
        bool waits_for_the_reply;
    } const points[] = {
        {"the request for all is not executed",
         [](gated_server& server) { server.hold_requests(true); },
         [](gated_server& server, holdfast::client&) {
             return server.arrived("multi_lock.acquire") == 1;
         },
         true},
        {"the request for all is not answered",
         [](gated_server& server) { server.hold_replies(true); },
         [](gated_server& server, holdfast::client&) {
             return server.arrived("multi_lock.acquire") == 1 && server.exists("b");
         },
         true},
        {"the first is waited for",
         [](gated_server& server) { server.lock_as_other("a", 1h); },
         [](gated_server&, holdfast::client& client) { return client.stats().waiters_now == 1; },
         false},
        {"the second is waited for",
         [](gated_server& server) { server.lock_as_other("b", 1h); },
         [](gated_server& server, holdfast::client& client) {
             return client.stats().waiters_now == 1 && server.exists("a") &&
                    client.stats().refusals >= 4;
         },
         false},
        {"there is no connection",
         [](gated_server& server) { server.set_up(false); },
         [](gated_server&, holdfast::client& client) { return client.stats().waiters_now == 1; },
         false},
    };
    for (auto const& point : points) {
        for (auto const type :
             {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
            BOOST_TEST_CONTEXT(point.what << ", type " << static_cast<int>(type)) {
                with_gates([&](gated_server& server, holdfast::client& client) -> task {
                    co_await get_to_know(client);
                    point.before(server);
                    ended_multi one;
                    auto start = [&] { lock_of(client, "a", "b").acquire(one.handler()); };
                    start();
                    auto const there = [&] { return point.reached(server, client); };
                    BOOST_TEST(co_await co_eventually(10s, there));
                    co_await sleep_for(20ms);
                    one.signal.emit(type);
                    if (type == cancellation_type::total && point.waits_for_the_reply) {
                        co_await sleep_for(20ms);
                        BOOST_TEST(!one.done());
                        server.hold_requests(false);
                        server.hold_replies(false);
                        BOOST_TEST(co_await co_eventually(10s, [&] { return one.done(); }));
                        BOOST_TEST(one.lease.valid());
                        one.lease = {};
                    } else {
                        BOOST_TEST(co_await co_eventually(10s, [&] { return one.done(); }));
                        BOOST_TEST(one.aborted());
                    }
                    server.hold_requests(false);
                    server.hold_replies(false);
                    server.set_up(true);
                    server.unlock_as_other("a");
                    server.unlock_as_other("b");
                    auto const clean = [&] {
                        auto const now = client.stats();
                        return server.lock_keys().empty() && now.leases_now == 0 &&
                               now.waiters_now == 0;
                    };
                    BOOST_TEST(co_await co_eventually(10s, clean));
                });
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_lost_reply_does_not_lose_the_locks) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        co_await get_to_know(client);
        server.hold_replies(true);
        ended_multi one;
        lock_of(client, "a", "b").acquire(one.handler());
        BOOST_TEST(co_await co_eventually(10s, [&] { return server.exists("b"); }));
        server.set_up(false);
        server.hold_replies(false);
        server.set_up(true);
        BOOST_TEST(co_await co_eventually(10s, [&] { return one.done(); }));
        BOOST_TEST(one.lease.valid());
        co_await one.lease.release();
        BOOST_TEST(co_await co_eventually(10s, [&] { return server.lock_keys().empty(); }));
    });
}
