// A lease that the program discards as soon as it is granted is reported, and no other.

#include "lease/delivery.hpp"

#include "unit/in_virtual_time.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using namespace holdfast::test;
namespace asio = boost::asio;
using holdfast::error_code;
using holdfast::lease;
using holdfast::log_level;
using holdfast::multi_lock;
using holdfast::quorum_lock;
using holdfast::testing::memory_server;
using holdfast::testing::virtual_time;

namespace {

struct logging {
    holdfast::config settings() {
        holdfast::config made;
        made.restart_delay = 0ms;
        made.log = [this](log_level level, std::string_view line) {
            bool const is_report = line.find("Keep the lease in a variable") != line.npos;
            if (level == log_level::warning && is_report) {
                lines.emplace_back(line);
            }
        };
        return made;
    }
    std::vector<std::string> lines;
};

struct world : logging, in_virtual_time {
    world() : in_virtual_time{settings()} { server.settle(); }

    template <class Coroutine>
    void run(Coroutine coroutine) {
        bool ended = false;
        asio::co_spawn(context, coroutine(), [&](std::exception_ptr) { ended = true; });
        server.settle();
        BOOST_TEST(ended);
    }
    template <class Lock>
    void reports(Lock const& on) {
        on.acquire([](error_code, auto) {});
        server.settle();
        BOOST_TEST_REQUIRE(lines.size() == 1U);
        BOOST_TEST(lines.front().find("lease of \"a\"") != std::string::npos, lines.front());
    }
    // What the holder of a lease of any kind does with it in the turn in which it was granted.
    template <class Lock, class Use>
    void does_not_report(Lock on, Use use) {
        run([&]() -> asio::awaitable<void> {
            auto held = co_await on.acquire();
            use(held);
        });
        server.advance(100ms);
        BOOST_TEST(lines.empty());
    }
    template <class Lock>
    void reports_no_lease_that_was_used(Lock on) {
        does_not_report(on, [](auto& held) { BOOST_TEST(static_cast<bool>(held)); });
        does_not_report(on, [](auto& held) { BOOST_TEST(held.valid()); });
        does_not_report(on, [](auto& held) { static_cast<void>(held.state()); });
        does_not_report(on, [](auto& held) { static_cast<void>(held.loss()); });
        does_not_report(on, [](auto& held) { static_cast<void>(held.deadline()); });
        does_not_report(on, [](auto& held) { static_cast<void>(held.remaining()); });
        does_not_report(on, [](auto& held) { held.renew(asio::detached); });
        does_not_report(on, [](auto& held) { held.release(asio::detached); });
        does_not_report(on, [](auto& held) { held.wait_lost(asio::detached); });
    }
};

struct quorum_world : world {
    quorum_world() { server.settle(); }

    memory_server second{virtual_time};
    memory_server third{virtual_time};
    holdfast::client b{context, second, settings()};
    holdfast::client c{context, third, settings()};
    quorum_lock all{client.lock("a"), b.lock("a"), c.lock("a")};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(delivery_test)

BOOST_FIXTURE_TEST_CASE(a_discarded_result_is_reported_once_for_each_client, world) {
    run([&]() -> asio::awaitable<void> {
        auto const lock = client.lock("a");
        static_cast<void>(co_await lock.acquire());
        static_cast<void>(co_await lock.try_acquire());
        co_await asio::post(asio::deferred);
        static_cast<void>(co_await lock.acquire());
    });
    BOOST_TEST_REQUIRE(lines.size() == 1U);
    BOOST_TEST(lines.front().find("lease of \"a\"") != std::string::npos, lines.front());
    holdfast::client const other{context, server, settings()};
    server.settle();
    other.lock("b").acquire(asio::detached);
    server.settle();
    BOOST_TEST_REQUIRE(lines.size() == 2U);
    BOOST_TEST(lines.back().find("lease of \"b\"") != std::string::npos, lines.back());
}

BOOST_FIXTURE_TEST_CASE(an_ignored_argument_of_a_callback_is_reported, world) {
    reports(client.lock("a"));
}
BOOST_FIXTURE_TEST_CASE(a_discarded_lease_of_a_fair_lock_is_reported, world) {
    reports(client.fair_lock("a"));
}
BOOST_FIXTURE_TEST_CASE(a_discarded_lease_of_a_reader_is_reported, world) {
    reports(client.read_write_lock("a").read());
}
BOOST_FIXTURE_TEST_CASE(a_discarded_lease_of_a_writer_is_reported, world) {
    reports(client.read_write_lock("a").write());
}
BOOST_FIXTURE_TEST_CASE(a_discarded_lease_of_permits_is_reported, world) {
    reports(client.semaphore("a").limit(3).permits(2));
}
BOOST_FIXTURE_TEST_CASE(a_discarded_lease_of_several_locks_is_reported, world) {
    reports(multi_lock{client.lock("a"), client.lock("b")});
}
BOOST_FIXTURE_TEST_CASE(a_discarded_lease_of_a_quorum_is_reported, quorum_world) {
    reports(all);
}
BOOST_FIXTURE_TEST_CASE(a_discarded_leadership_is_reported, world) {
    client.election("a").campaign("me", [](error_code, holdfast::leadership) {});
    server.settle();
    BOOST_TEST_REQUIRE(lines.size() == 1U);
    BOOST_TEST(lines.front().find('a') != std::string::npos, lines.front());
}
BOOST_FIXTURE_TEST_CASE(a_discarded_lease_on_the_grant_of_an_owner_is_reported, world) {
    auto const me = holdfast::owner::make();
    auto const outer = take(client.lock("a"), {.owner = me});
    client.lock("a").acquire({.owner = me}, asio::detached);
    server.settle();
    BOOST_TEST(lines.size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_was_used_is_not_reported, world) {
    auto const lock = client.lock("a");
    reports_no_lease_that_was_used(lock);
    does_not_report(lock, [](lease& held) { static_cast<void>(held.token()); });
}
BOOST_FIXTURE_TEST_CASE(a_lease_of_several_locks_that_was_used_is_not_reported, world) {
    multi_lock const both{client.lock("a"), client.lock("b")};
    reports_no_lease_that_was_used(both);
    using held_by_user = holdfast::multi_lease&;
    does_not_report(both, [](held_by_user held) { static_cast<void>(held.token(1)); });
    does_not_report(both, [](held_by_user held) { static_cast<void>(held.tokens()); });
    does_not_report(both, [](held_by_user held) { static_cast<void>(held.size()); });
}
BOOST_FIXTURE_TEST_CASE(a_lease_of_a_quorum_that_was_used_is_not_reported, quorum_world) {
    reports_no_lease_that_was_used(all);
    using held_by_user = holdfast::quorum_lease&;
    does_not_report(all, [](held_by_user held) { static_cast<void>(held.token()); });
    does_not_report(all, [](held_by_user held) { static_cast<void>(held.nodes()); });
}
BOOST_FIXTURE_TEST_CASE(a_leadership_that_was_used_is_not_reported, world) {
    client.election("a").campaign("me", [](error_code, holdfast::leadership won) {
        BOOST_TEST(won.term().value > 0U);
    });
    client.election("b").campaign("me", [](error_code, holdfast::leadership won) {
        won.resign(asio::detached);
    });
    server.settle();
    BOOST_TEST(lines.empty());
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_lives_across_a_suspension_is_not_reported, world) {
    run([&]() -> asio::awaitable<void> {
        auto const held = co_await client.lock("a").acquire();
        co_await asio::post(asio::deferred);
    });
    // The next suspension is another acquisition, and then its turn has another lease.
    run([&]() -> asio::awaitable<void> {
        auto const first = co_await client.lock("a").acquire();
        auto const second = co_await client.lock("b").acquire();
        BOOST_TEST(second.valid());
    });
    // It goes where it lives longer.
    std::optional<lease> kept;
    client.lock("a").acquire([&](error_code, lease given) { kept = std::move(given); });
    server.settle();
    kept.reset();
    server.settle();
    BOOST_TEST(lines.empty());
}

BOOST_FIXTURE_TEST_CASE(with_lease_does_not_cause_a_report, world) {
    auto const lock = client.lock("a");
    auto body = [](lease&) -> asio::awaitable<void> { co_return; };
    run([&]() -> asio::awaitable<void> { co_await holdfast::with_lease(lock, body); });
    run([&]() -> asio::awaitable<void> {
        co_await holdfast::with_lease(lock, body, {.wait_at_most = 1s});
    });
    BOOST_TEST(lines.empty());
}

BOOST_FIXTURE_TEST_CASE(what_was_not_granted_is_not_reported, world) {
    holdfast::client const other{context, server};
    auto const held = take(other, "a");
    client.lock("a").try_acquire(asio::detached);
    client.lock("a").acquire({.lease = 1ms}, asio::detached);
    client.latch("c").wait(asio::detached);
    server.settle();
    BOOST_TEST(lines.empty());
}

// Members that were granted are given back when another one is not.
BOOST_FIXTURE_TEST_CASE(
    what_an_operation_on_several_locks_gives_back_is_not_reported,
    quorum_world
) {
    holdfast::client const other{context, server};
    holdfast::client const others{context, second};
    auto const held = take(other, "a");
    auto const elsewhere = take(others, "a");
    multi_lock const both{client.lock("a"), c.lock("b")};
    multi_lock const turned{c.lock("b"), client.lock("a")};
    both.try_acquire(asio::detached);
    turned.try_acquire(asio::detached);
    turned.try_acquire_for(1s, asio::detached);
    for (auto const& quorum :
         {all,
          quorum_lock{b.lock("a"), c.lock("a"), client.lock("a")},
          quorum_lock{c.lock("a"), client.lock("a"), b.lock("a")}}) {
        quorum.try_acquire(asio::detached);
        quorum.try_acquire_for(1s, asio::detached);
        server.advance(2s);
    }
    asio::cancellation_signal stop;
    turned.acquire(asio::bind_cancellation_slot(stop.slot(), asio::detached));
    server.settle();
    stop.emit(asio::cancellation_type::terminal);
    server.advance(1min);
    BOOST_TEST(lines.empty());
}

BOOST_FIXTURE_TEST_CASE(an_exception_that_destroys_a_lease_is_not_reported, world) {
    run([&]() -> asio::awaitable<void> {
        auto const held = co_await client.lock("a").acquire();
        throw std::domain_error{"no"};
    });
    BOOST_TEST(lines.empty());
}

// An operation that lost a race is cancelled, and a grant that was decided is delivered all the
// same.
BOOST_FIXTURE_TEST_CASE(a_lease_that_comes_after_a_cancellation_is_not_reported, world) {
    for (bool const cancelled : {true, false}) {
        asio::io_context others;
        asio::cancellation_signal stop;
        std::optional<error_code> ended;
        client.lock("a").acquire(asio::bind_cancellation_slot(
            stop.slot(),
            asio::bind_executor(others, [&](error_code ec, lease) { ended = ec; })
        ));
        server.settle();
        BOOST_TEST(server.inspect("a").held);
        if (cancelled) {
            stop.emit(asio::cancellation_type::terminal);
        }
        others.run();
        BOOST_TEST((ended == error_code{}));
        server.settle();
        BOOST_TEST(lines.size() == (cancelled ? 0U : 1U));
    }
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_protects_a_blocking_step_is_not_reported, world) {
    does_not_report(client.lock("a"), [this](lease&) { server.jump(5ms); });
}

BOOST_FIXTURE_TEST_CASE(nothing_is_reported_when_a_context_or_a_client_ends, world) {
    auto others = std::make_unique<asio::io_context>();
    auto const hold = [this]() -> asio::awaitable<void> {
        asio::steady_timer never{co_await asio::this_coro::executor, 1h};
        auto const held = co_await client.lock("a").acquire();
        co_await never.async_wait(asio::deferred);
    };
    asio::co_spawn(*others, hold(), asio::detached);
    others->poll();
    server.settle();
    others->poll();
    BOOST_TEST(server.inspect("a").held);
    others.reset();
    server.advance(1s);
    BOOST_TEST(!server.inspect("a").held);

    asio::io_context late;
    client.lock("b").acquire(asio::bind_executor(late, asio::detached));
    server.settle();
    client.shutdown(asio::detached);
    server.settle();
    late.run();
    server.settle();
    BOOST_TEST(lines.empty());
}

BOOST_FIXTURE_TEST_CASE(on_a_thread_pool_each_thread_knows_its_own_leases, world) {
    asio::thread_pool pool{2};
    auto const lock = client.lock("a");
    lock.acquire(asio::bind_executor(pool, [](error_code, lease given) {
        // Another thread destroys it: it may have been handed over on purpose.
        std::jthread{[moved = std::move(given)] {}};
    }));
    server.settle();
    pool.wait();
    server.settle();
    BOOST_TEST(lines.empty());
    asio::thread_pool next{2};
    lock.acquire(asio::bind_executor(next, asio::detached));
    server.settle();
    next.wait();
    server.settle();
    BOOST_TEST(lines.size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
