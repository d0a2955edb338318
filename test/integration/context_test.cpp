// Execution contexts that stop and go on, or are destroyed with everything pending.

#include "support/gated_server.hpp"
#include "support/run_contexts.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace holdfast::test;

namespace {}  // namespace

BOOST_AUTO_TEST_CASE(the_context_is_stopped_and_run_again) {
    redis_server server;
    asio::io_context context;
    auto settings = holdfast::parse_url(server.url());
    settings.lease = 1s;
    auto client = std::make_optional<holdfast::client>(context, settings);
    holdfast::lease lease;
    client->lock("a").acquire([&](error_code, holdfast::lease granted) {
        lease = std::move(granted);
        context.stop();
    });
    context.run();
    BOOST_TEST(lease.valid());
    std::optional<loss_reason> told;
    lease.wait_lost([&](error_code, loss_reason reason) { told = reason; });

    std::this_thread::sleep_for(1'200ms);
    BOOST_TEST(!lease.valid());  // judged by the clock, nothing has run
    BOOST_TEST(!server.probe().exists("a"));
    context.restart();
    context.run_for(200ms);
    BOOST_TEST(told.has_value());
    BOOST_TEST(!lease.valid());

    // The client goes on as before.
    holdfast::lease next;
    client->lock("a").acquire([&](error_code, holdfast::lease granted) {
        next = std::move(granted);
        context.stop();
    });
    context.restart();
    context.run_for(10s);
    BOOST_TEST(next.valid());
    next = {};
    lease = {};
    client.reset();
    context.restart();
    context.run_for(10s);
    BOOST_TEST(context.stopped());
    BOOST_TEST(server.probe().lock_keys().empty());
}

namespace {

// Everything that can be pending on a client, and what may outlive a context.
struct survivors {
    std::optional<holdfast::client> client;
    std::optional<holdfast::lock> lock;
    holdfast::lease lease;
    std::vector<holdfast::lease> more;
};

void start_everything(survivors& s) {
    auto const ignore = [](auto&&...) {};
    s.lock->acquire(ignore);
    s.lock->acquire(ignore);
    s.lock->try_acquire(ignore);
    s.lock->try_acquire_for(1h, ignore);
    s.client->lock("free").acquire(ignore);
    s.lease.renew(ignore);
    s.lease.wait_lost(ignore);
    s.lock->inspect(ignore);
    s.lock->force_release(ignore);
    s.client->ready(ignore);
}

void look_at(survivors const& s) {
    (void)s.lease.valid();
    (void)s.lease.remaining();
    BOOST_TEST(s.lease.token().value > 0U);
    BOOST_TEST((s.lease.deadline() > lease_clock::time_point::min()));
    (void)s.client->stats();
    BOOST_TEST(s.lock->name() == "a");
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_context_is_destroyed_while_held) {
    // After so many turns with everything pending, on a real server.
    redis_server server;
    for (int turns = 0; turns < 80; turns += 2) {
        survivors s;
        {
            asio::io_context context;
            s.client.emplace(context, server.url());
            s.lock.emplace(s.client->lock("a"));
            s.lock->force_release([&](error_code, bool) { context.stop(); });
            context.run();
            context.restart();
            s.lock->acquire([&](error_code, holdfast::lease granted) {
                s.lease = std::move(granted);
                context.stop();
            });
            context.run();
            context.restart();
            BOOST_TEST_REQUIRE(s.lease.valid());
            start_everything(s);
            if (turns % 6 == 0) {
                s.client->shutdown([](error_code) {});
            }
            for (int i = 0; i < turns; ++i) {
                context.run_one_for(2ms);
            }
        }
        look_at(s);
        // In both orders.
        if (turns % 4 == 0) {
            s.client.reset();
            s.lock.reset();
            s.lease = {};
        } else {
            s.lease = {};
            s.lock.reset();
            s.client.reset();
        }
    }
}

BOOST_AUTO_TEST_CASE(the_context_is_destroyed_with_requests_in_flight) {
    for (int const state : {0, 1, 2, 3}) {
        gated_server server;
        survivors s;
        {
            asio::io_context context;
            s.client.emplace(server.make_client(context.get_executor(), patient_config()));
            s.lock.emplace(s.client->lock("a"));
            s.lock->acquire([&](error_code, holdfast::lease granted) {
                s.lease = std::move(granted);
                context.stop();
            });
            context.run();
            context.restart();
            server.hold_requests(state == 1);
            server.hold_replies(state == 2);
            server.hold_confirmations(true);
            server.set_up(state != 3);
            start_everything(s);
            s.more.push_back(std::move(s.lease));
            s.more.front().release([](error_code) {});
            context.run_for(20ms);
        }
        (void)s.more.front().valid();
        s.more.clear();
        s.lock.reset();
    }
}

BOOST_AUTO_TEST_CASE(coroutines_that_own_everything_are_destroyed_with_the_context) {
    redis_server server;
    for (int turns = 0; turns < 60; turns += 2) {
        asio::io_context context;
        auto const main = [&]() -> task {
            holdfast::client client{context, server.url()};
            auto const lock = client.lock("a");
            auto lease = co_await lock.acquire();
            auto body = [&](holdfast::lease& held) -> task {
                co_await held.renew();
                co_await sleep_for(1h);
            };
            auto const other = client.lock("b");
            co_await holdfast::with_lease(other, body);
        };
        asio::co_spawn(context, main, asio::detached);
        for (int i = 0; i < turns; ++i) {
            context.run_one_for(2ms);
        }
        server.probe().flushall();
    }
}

BOOST_AUTO_TEST_CASE(the_holders_context_is_destroyed_before_that_of_the_client) {
    redis_server server;
    for (bool const young : {true, false}) {
        asio::io_context clients;
        holdfast::client client{clients, server.url()};
        auto const hold = [&](bool& held) -> task {
            auto lease = co_await client.lock("a").acquire();
            held = true;
            co_await sleep_for(1h);
        };
        BOOST_TEST(run_and_destroy(clients, hold, young));
        BOOST_TEST(run_until({&clients}, 5s, [&] { return server.probe().lock_keys().empty(); }));
        BOOST_TEST(client.stats().leases_now == 0U);
    }
}

BOOST_AUTO_TEST_CASE(the_end_of_one_client_is_the_end_of_another) {
    redis_server server;
    for (int i = 0; i < 20; ++i) {
        asio::io_context context;
        holdfast::client one{context, server.url()};
        std::optional<holdfast::client> other{std::in_place, context, server.url()};
        one.lock("a").acquire([lock = other->lock("b")](error_code, holdfast::lease) {});
        other.reset();
        context.run_for(std::chrono::milliseconds{i % 4});
    }
    server.probe().flushall();
}
