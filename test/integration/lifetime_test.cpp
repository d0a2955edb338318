// Leases, locks and clients that end in the wrong order, or are misused.

#include "support/free_port.hpp"
#include "support/gated_server.hpp"

#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace holdfast::test;
using steady_clock = std::chrono::steady_clock;

namespace {

template <class Awaitable>
asio::awaitable<error_code> code_of(Awaitable operation) {
    auto [ec] = co_await std::move(operation)(as_result);
    co_return ec;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_lease_destroyed_without_release_frees_the_lock) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        auto const lock = client.lock("a");
        std::optional<holdfast::lease> lease{co_await lock.acquire()};
        holdfast::lease next;
        lock.acquire([&](error_code, holdfast::lease granted) { next = std::move(granted); });
        co_await sleep_for(20ms);
        BOOST_TEST(!next);
        lease.reset();
        BOOST_TEST(co_await co_eventually(5s, [&] { return next.valid(); }));
        next = {};
        BOOST_TEST(co_await co_eventually(5s, [&] { return server.lock_keys().empty(); }));
        BOOST_TEST(client.stats().leases_now == 0U);
    });
}

BOOST_AUTO_TEST_CASE(the_release_of_a_dropped_lease_survives_a_broken_connection) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        auto lease = co_await client.lock("a").acquire();
        server.set_up(false);
        co_await sleep_for(10ms);
        lease = {};
        co_await sleep_for(50ms);
        BOOST_TEST(server.exists("a"));
        server.set_up(true);
        BOOST_TEST(co_await co_eventually(5s, [&] { return server.lock_keys().empty(); }));
    });
}

BOOST_AUTO_TEST_CASE(the_lock_is_destroyed_with_an_acquire_pending) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        server.lock_as_other("a", 1h);
        std::optional<holdfast::lock> lock{client.lock("a")};
        holdfast::lease lease;
        error_code ec = errc::not_held;
        lock->acquire([&](error_code e, holdfast::lease granted) {
            ec = e;
            lease = std::move(granted);
        });
        auto deferred = lock->try_acquire(asio::deferred);
        lock.reset();
        co_await sleep_for(20ms);
        server.unlock_as_other("a");
        BOOST_TEST(co_await co_eventually(5s, [&] { return lease.valid(); }));
        BOOST_TEST(!ec);
        auto const busy = co_await std::move(deferred)(asio::use_awaitable);
        BOOST_TEST(!busy);
        co_await lease.release();
    });
}

BOOST_AUTO_TEST_CASE(the_client_is_destroyed_with_leases_alive) {
    run_with_deadline([](asio::any_io_executor executor) -> task {
        gated_server server;
        std::optional<holdfast::client> client{server.make_client(executor, patient_config())};
        auto const lock = client->lock("a");
        auto lease = co_await lock.acquire();
        auto other = co_await client->lock("b").acquire();
        std::optional<loss_reason> told;
        lease.wait_lost([&](error_code, loss_reason reason) { told = reason; });
        std::optional<error_code> waiter;
        lock.acquire([&](error_code ec, holdfast::lease) { waiter = ec; });
        co_await sleep_for(20ms);

        client.reset();
        BOOST_TEST(co_await co_eventually(5s, [&] {
            return told.has_value() && waiter.has_value();
        }));
        BOOST_TEST((told == loss_reason::client_stopped));
        BOOST_TEST((waiter == errc::client_stopped));
        BOOST_TEST(!lease.valid());
        BOOST_TEST((lease.state() == lease_state::lost));
        BOOST_TEST((lease.loss() == loss_reason::client_stopped));
        BOOST_TEST(co_await co_eventually(5s, [&] { return server.lock_keys().empty(); }));
        BOOST_TEST((co_await code_of(lease.release(asio::deferred)) == errc::lease_lost));
        auto [ec, late] = co_await lock.acquire(as_result);
        BOOST_TEST((ec == errc::client_stopped));
        // `other` is destroyed last of all.
    });
}

BOOST_AUTO_TEST_CASE(the_client_is_destroyed_at_every_step_of_an_acquisition) {
    // The client goes after so many turns of its context, on a real server.
    redis_server server;
    for (int turns = 0; turns < 60; ++turns) {
        asio::io_context context;
        auto client = std::make_optional<holdfast::client>(context, server.url());
        std::optional<error_code> ended;
        holdfast::lease lease;
        client->lock("a").acquire([&](error_code ec, holdfast::lease granted) {
            ended = ec;
            lease = std::move(granted);
        });
        for (int i = 0; i < turns; ++i) {
            context.run_one_for(2ms);
        }
        client.reset();
        context.run_for(10s);
        BOOST_TEST(context.stopped(), turns);
        BOOST_TEST_REQUIRE(ended.has_value());
        BOOST_TEST((!*ended || *ended == errc::client_stopped), turns << ": " << ended->message());
        BOOST_TEST(server.probe().lock_keys().empty(), turns);
    }
}

BOOST_AUTO_TEST_CASE(the_same_task_acquires_again_and_waits) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        auto const lock = client.lock("a");
        auto lease = co_await lock.acquire();
        auto [ec, second] = co_await lock.acquire(asio::cancel_after(100ms, as_result));
        BOOST_TEST((ec == asio::error::operation_aborted));
        BOOST_TEST(!second);
        auto const busy = co_await lock.try_acquire();
        BOOST_TEST(!busy);
        auto const late = co_await lock.try_acquire_for(1s);
        BOOST_TEST(!late);
        BOOST_TEST(lease.valid());
        co_await lease.release();
        auto again = co_await lock.acquire();
        BOOST_TEST(again.valid());
        co_await again.release();
        BOOST_TEST(server.lock_keys().empty());
    });
}

BOOST_AUTO_TEST_CASE(a_lease_is_released_once) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        auto lease = co_await client.lock("a").acquire();
        auto moved = std::move(lease);
        // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
        BOOST_TEST((co_await code_of(lease.release(asio::deferred)) == errc::not_held));
        BOOST_TEST((co_await code_of(lease.renew(asio::deferred)) == errc::not_held));
        auto [ec, reason] = co_await lease.wait_lost(as_result);
        BOOST_TEST((ec == errc::not_held));
        BOOST_TEST((reason == loss_reason::none));
        BOOST_TEST((lease.state() == lease_state::empty));
        BOOST_TEST(lease.token().value == 0U);
        BOOST_TEST((lease.remaining() == 0ms));
        // NOLINTEND(bugprone-use-after-move)
        BOOST_TEST(moved.valid());

        // Two releases of one lease, made before either starts.
        auto first = moved.release(asio::deferred);
        auto second = moved.release(asio::deferred);
        BOOST_TEST(!(co_await code_of(std::move(first))));
        BOOST_TEST((co_await code_of(std::move(second)) == errc::not_held));
        BOOST_TEST((co_await code_of(moved.release(asio::deferred)) == errc::not_held));
        BOOST_TEST((co_await code_of(moved.renew(asio::deferred)) == errc::not_held));
        BOOST_TEST(!moved);
        BOOST_TEST(server.arrived("lock.release") == 1U);
        BOOST_TEST(server.arrived("lock.renew") == 0U);

        // Two at the same time.
        auto lock = client.lock("b");
        auto other = co_await lock.acquire();
        std::vector<error_code> codes;
        other.release([&](error_code e) { codes.push_back(e); });
        other.release([&](error_code e) { codes.push_back(e); });
        BOOST_TEST(co_await co_eventually(5s, [&] { return codes.size() == 2; }));
        BOOST_TEST(
            ((!codes.at(0) && codes.at(1) == errc::not_held) ||
             (!codes.at(1) && codes.at(0) == errc::not_held))
        );
        BOOST_TEST(server.arrived("lock.release") == 2U);
    });
}

BOOST_AUTO_TEST_CASE(a_lease_that_is_overwritten_is_released) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        auto lease = co_await client.lock("a").acquire();
        lease = co_await client.lock("b").acquire();
        BOOST_TEST(lease.valid());
        BOOST_TEST(co_await co_eventually(5s, [&] {
            return server.lock_keys() == std::vector<std::string>{"b"};
        }));
    });
}

BOOST_AUTO_TEST_CASE(after_shutdown_every_operation_says_so) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> task {
        holdfast::client client{executor, server.url()};
        auto const lock = client.lock("a");
        auto lease = co_await lock.acquire();
        std::optional<error_code> waiter;
        lock.acquire([&](error_code ec, holdfast::lease) { waiter = ec; });
        std::optional<error_code> second;
        client.shutdown([&](error_code ec) { second = ec; });
        co_await client.shutdown();
        BOOST_TEST(co_await co_eventually(5s, [&] {
            return waiter.has_value() && second.has_value();
        }));
        BOOST_TEST((waiter == errc::client_stopped));
        BOOST_TEST(!*second);
        BOOST_TEST((lease.loss() == loss_reason::client_stopped));
        BOOST_TEST(server.probe().lock_keys().empty());

        auto [ec1, none1] = co_await lock.acquire(as_result);
        BOOST_TEST((ec1 == errc::client_stopped));
        auto [ec2, none2] = co_await lock.try_acquire(as_result);
        BOOST_TEST((ec2 == errc::client_stopped));
        auto [ec3, none3] = co_await lock.try_acquire_for(1s, as_result);
        BOOST_TEST((ec3 == errc::client_stopped));
        auto [ec4, info] = co_await lock.inspect(as_result);
        BOOST_TEST((ec4 == errc::client_stopped));
        auto [ec5, freed] = co_await lock.force_release(as_result);
        BOOST_TEST((ec5 == errc::client_stopped));
        BOOST_TEST((co_await code_of(client.ready(asio::deferred)) == errc::client_stopped));
        BOOST_TEST((co_await code_of(lease.renew(asio::deferred)) == errc::lease_lost));
        BOOST_TEST((co_await code_of(lease.release(asio::deferred)) == errc::lease_lost));
        BOOST_TEST(!(co_await code_of(client.shutdown(asio::deferred))));
        BOOST_TEST(client.stats().waiters_now == 0U);
        BOOST_TEST(client.stats().subscriptions_now == 0U);
        BOOST_TEST(client.stats().leases_now == 0U);
        BOOST_TEST(server.probe().pubsub_channels().empty());
    });
}

namespace {

std::size_t resident_kilobytes() {
    std::ifstream status{"/proc/self/status"};
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmRSS:")) {
            return std::stoul(line.substr(6));
        }
    }
    return 0;
}

}  // namespace

BOOST_AUTO_TEST_CASE(as_many_wait_as_the_limit_allows_and_no_more) {
    auto settings = patient_config();
    BOOST_TEST(settings.max_waiters == 100'000U);
    run_with_deadline(
        [&](asio::any_io_executor executor) -> task {
            gated_server server;
            auto client = server.make_client(executor, settings);
            auto const lock = client.lock("a");
            auto lease = co_await lock.acquire();
            std::size_t refused = 0;
            std::size_t stopped = 0;
            std::size_t other = 0;
            auto const before = resident_kilobytes();
            constexpr std::size_t more = 1'000;
            for (std::size_t i = 0; i < settings.max_waiters + more; ++i) {
                lock.acquire([&](error_code ec, holdfast::lease) {
                    refused += ec == errc::too_many_waiters;
                    stopped += ec == errc::client_stopped;
                    other += !ec;
                });
            }
            BOOST_TEST(co_await co_eventually(60s, [&] { return refused == more; }));
            BOOST_TEST(client.stats().waiters_now == settings.max_waiters);
            auto const used = resident_kilobytes() - before;
            BOOST_TEST_MESSAGE(used << " KiB for all waiters");
#ifndef HOLDFAST_TEST_SANITIZER                           // it needs memory of its own
            BOOST_TEST(used < 2 * settings.max_waiters);  // 2 KiB each
#endif
            BOOST_TEST(holdfast::is_retryable(errc::too_many_waiters));
            // One subscription and a few attempts serve them all: who comes later asks only when
            // the last answer is older than a fraction of a second. Another key is not concerned.
            BOOST_TEST(co_await co_eventually(10s, [&] { return server.subscriptions() == 1; }));
            BOOST_TEST(client.stats().attempts <= 50U);
            auto elsewhere = co_await client.lock("b").acquire();
            BOOST_TEST(elsewhere.valid());
            co_await client.shutdown();
            BOOST_TEST(co_await co_eventually(60s, [&] { return stopped == settings.max_waiters; })
            );
            BOOST_TEST(refused == more);
            BOOST_TEST(other == 0U);
            BOOST_TEST(client.stats().waiters_now == 0U);
            BOOST_TEST(server.lock_keys().empty());
        },
        110s
    );
}

// Programs end by themselves

namespace {

// The README's: the client lives in the main coroutine. True if `run()` returned in time.
template <class Main>
bool ends_by_itself(Main main, std::chrono::milliseconds limit) {
    asio::io_context context;
    std::exception_ptr thrown;
    asio::co_spawn(context, main(context), [&](std::exception_ptr e) { thrown = e; });
    context.run_for(limit);
    if (thrown) {
        std::rethrow_exception(thrown);
    }
    return context.stopped();
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_program_of_the_readme_ends_by_itself) {
    redis_server server;
    auto const main = [&](asio::io_context& context) -> task {
        holdfast::client client{context, server.url()};
        auto lock = client.lock("stock:{}:{}", 7, "apple");
        auto lease = co_await lock.acquire();
        BOOST_TEST(lease.token().value > 0U);
        co_await lease.release();
    };
    auto const begin = steady_clock::now();
    BOOST_TEST(ends_by_itself(main, 10s));
    BOOST_TEST((steady_clock::now() - begin < 3s));
    auto const drops = [&](asio::io_context& context) -> task {
        holdfast::client client{context, server.url()};
        auto const lease = co_await client.lock("a").acquire();
    };
    BOOST_TEST(ends_by_itself(drops, 10s));
    auto const does_nothing = [&](asio::io_context& context) -> task {
        holdfast::client const client{context, server.url()};
        co_return;
    };
    BOOST_TEST(ends_by_itself(does_nothing, 10s));
    BOOST_TEST(server.probe().lock_keys().empty());
}

BOOST_AUTO_TEST_CASE(the_program_of_the_readme_ends_by_itself_without_a_server) {
    auto const nobody = "redis://127.0.0.1:" + std::to_string(free_tcp_port());
    for (auto const& url :
         {nobody, std::string{"unix:///nowhere/at/all"}, std::string{"redis://192.0.2.1:6379"}}) {
        auto const main = [&](asio::io_context& context) -> task {
            holdfast::client client{context, url};
            auto [ec, lease] =
                co_await client.lock("a").acquire(asio::cancel_after(300ms, as_result));
            BOOST_TEST((ec == asio::error::operation_aborted), url);
        };
        auto const begin = steady_clock::now();
        BOOST_TEST(ends_by_itself(main, 10s), url);
        BOOST_TEST((steady_clock::now() - begin < 3s), url);
    }
}

BOOST_AUTO_TEST_CASE(shutdown_keeps_its_bound_when_the_server_does_not_answer) {
    redis_server server;
    auto const main = [&](asio::io_context& context) -> task {
        auto settings = holdfast::parse_url(server.url());
        settings.shutdown_timeout = 500ms;
        holdfast::client client{context, settings};
        auto const lease = co_await client.lock("a").acquire();
        server.pause();
        auto const begin = steady_clock::now();
        BOOST_TEST((co_await code_of(client.shutdown(asio::deferred)) == errc::release_unknown));
        BOOST_TEST((steady_clock::now() - begin < 2s));
    };
    BOOST_TEST(ends_by_itself(main, 10s));
    server.resume();
}
