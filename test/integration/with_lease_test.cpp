// What with_lease does on every path out.

#include "support/fake_client.hpp"
#include "support/redis_probe.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"
#include "support/run_contexts.hpp"

#include <holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::errc;
using holdfast::error_code;
using holdfast::lease_state;
using holdfast::test::co_eventually;
using holdfast::test::fake_server;
using holdfast::test::run_for;
using holdfast::test::run_until;
using holdfast::test::short_config;
using holdfast::test::sleep_for;
using holdfast::test::with_fake_client;

namespace {

constexpr auto awaited = asio::use_awaitable;
constexpr auto as_code = asio::as_tuple(asio::use_awaitable);

/// For the end of a coroutine: its error, or none.
auto keep_code(std::optional<error_code>& into) {
    return [&into](std::exception_ptr thrown) {
        into = error_code{};
        try {
            if (thrown) {
                std::rethrow_exception(thrown);
            }
        } catch (boost::system::system_error const& e) {
            into = e.code();
        }
    };
}

/// Runs `work` with eight locks at a time, each on any of four threads; it has to return
/// `expected`.
void check_on_a_bare_pool(asio::awaitable<int> (*work)(holdfast::lock), int expected) {
    holdfast::test::redis_server server;
    asio::thread_pool pool{4};
    holdfast::client client{pool, server.url()};
    std::vector<std::future<int>> all;
    for (int i = 0; i < 8; ++i) {
        all.push_back(asio::co_spawn(pool, work(client.lock("lock:{}", i)), asio::use_future));
    }
    for (auto& one : all) {
        BOOST_TEST_REQUIRE((one.wait_for(60s) == std::future_status::ready));
        BOOST_TEST(one.get() == expected);
    }
    client.shutdown(asio::use_future).get();
    BOOST_TEST(server.probe().lock_keys().empty());
    pool.join();
}

}  // namespace

// 96, and what else with_lease promises

BOOST_AUTO_TEST_CASE(fault_96_an_exception_in_the_critical_section_releases_the_lock) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        auto const lock = client.lock("a");
        auto body = [&](holdfast::lease& lease) -> asio::awaitable<void> {
            BOOST_TEST(lease.valid());
            co_await sleep_for(1ms);
            throw std::domain_error{"no"};
        };
        std::string caught;
        try {
            co_await holdfast::with_lease(lock, body);
        } catch (std::domain_error const& e) {
            caught = e.what();
        }
        BOOST_TEST(caught == "no");
        BOOST_TEST(server.lock_keys().empty());  // at once: it was awaited
        auto thrower = [&](holdfast::lease&) -> asio::awaitable<int> {
            throw std::domain_error{"at once"};
        };
        try {
            co_await holdfast::with_lease(lock, thrower);
        } catch (std::domain_error const& e) {
            caught = e.what();
        }
        BOOST_TEST(caught == "at once");
        BOOST_TEST(server.lock_keys().empty());
    });
}

BOOST_AUTO_TEST_CASE(fault_96_an_exception_past_a_lease_releases_the_lock) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        try {
            auto const lease = co_await client.lock("a").acquire(awaited);
            throw std::domain_error{"no"};
        } catch (std::domain_error const&) {
        }
        BOOST_TEST(co_await co_eventually(5s, [&] { return server.lock_keys().empty(); }));
    });
}

BOOST_AUTO_TEST_CASE(with_lease_returns_what_the_body_returned) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        auto const lock = client.lock("a");
        auto body = [&](holdfast::lease& lease) -> asio::awaitable<std::string> {
            BOOST_TEST(server.exists("a"));
            co_return lease.valid() ? "value" : "";
        };
        BOOST_TEST(co_await holdfast::with_lease(lock, body) == "value");
        BOOST_TEST(!server.exists("a"));
        bool ran = false;
        auto nothing = [&](holdfast::lease&) -> asio::awaitable<void> {
            ran = true;
            co_return;
        };
        co_await holdfast::with_lease(lock, nothing);
        BOOST_TEST(ran);
        // A body that releases by itself is not cancelled for it.
        auto releases = [&](holdfast::lease& lease) -> asio::awaitable<int> {
            co_await lease.release(awaited);
            co_await sleep_for(10ms);
            co_return 7;
        };
        BOOST_TEST(co_await holdfast::with_lease(lock, releases) == 7);
        BOOST_TEST(server.lock_keys().empty());
    });
}

BOOST_AUTO_TEST_CASE(with_lease_cancels_the_body_when_the_lease_is_lost) {
    with_fake_client(
        [](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
            auto const lock = client.lock("a");
            bool cancelled = false;
            std::optional<lease_state> seen;
            auto body = [&](holdfast::lease& lease) -> asio::awaitable<int> {
                server.del("a");
                asio::steady_timer timer{co_await asio::this_coro::executor, 1h};
                auto [ec] = co_await timer.async_wait(as_code);
                cancelled = ec == asio::error::operation_aborted;
                seen = lease.state();
                co_await asio::this_coro::throw_if_cancelled(false);
                co_return 1;
            };
            error_code ec;
            try {
                (void)co_await holdfast::with_lease(lock, body);
            } catch (boost::system::system_error const& e) {
                ec = e.code();
            }
            BOOST_TEST((ec == errc::lease_lost));
            BOOST_TEST(cancelled);
            BOOST_TEST((seen == lease_state::lost));
        },
        short_config()
    );
}

BOOST_AUTO_TEST_CASE(with_lease_releases_when_the_caller_is_cancelled) {
    with_fake_client([](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
        auto const lock = client.lock("a");
        auto const executor = co_await asio::this_coro::executor;
        for (auto const type :
             {asio::cancellation_type::terminal,
              asio::cancellation_type::partial,
              asio::cancellation_type::total}) {
            bool entered = false;
            auto body = [&](holdfast::lease&) -> asio::awaitable<void> {
                entered = true;
                co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation()
                );
                asio::steady_timer timer{co_await asio::this_coro::executor, 1h};
                co_await timer.async_wait(awaited);
            };
            auto caller = [&]() -> asio::awaitable<void> {
                co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation()
                );
                co_await holdfast::with_lease(lock, body);
            };
            asio::cancellation_signal signal;
            std::optional<error_code> ended;
            asio::co_spawn(
                executor,
                caller,
                asio::bind_cancellation_slot(signal.slot(), keep_code(ended))
            );
            BOOST_TEST(co_await co_eventually(5s, [&] { return entered; }));
            co_await sleep_for(5ms);
            signal.emit(type);
            BOOST_TEST(co_await co_eventually(5s, [&] { return ended.has_value(); }));
            BOOST_TEST((ended == asio::error::operation_aborted));
            BOOST_TEST(!server.exists("a"));

            // While it waits for the lock.
            server.lock_as_other("a", 1h);
            ended.reset();
            entered = false;
            asio::cancellation_signal again;
            asio::co_spawn(
                executor,
                caller,
                asio::bind_cancellation_slot(
                    again.slot(),
                    [&](std::exception_ptr thrown) {
                        ended = thrown ? error_code{asio::error::operation_aborted} : error_code{};
                    }
                )
            );
            co_await sleep_for(20ms);
            again.emit(type);
            BOOST_TEST(co_await co_eventually(5s, [&] { return ended.has_value(); }));
            BOOST_TEST((ended == asio::error::operation_aborted));
            BOOST_TEST(!entered);
            server.unlock_as_other("a");
        }
        auto const clean = [&] {
            return server.lock_keys().empty() && client.stats().waiters_now == 0;
        };
        BOOST_TEST(co_await co_eventually(5s, clean));
    });
}

// A body that lets only `terminal` through does not feel `total`; its watch must not either.
BOOST_AUTO_TEST_CASE(with_lease_goes_on_watching_after_a_cancellation_that_the_body_did_not_feel) {
    with_fake_client(
        [](fake_server& server, holdfast::client& client) -> asio::awaitable<void> {
            auto const lock = client.lock("a");
            bool entered = false;
            bool cancelled = false;
            auto body = [&](holdfast::lease&) -> asio::awaitable<void> {
                entered = true;
                asio::steady_timer timer{co_await asio::this_coro::executor, 20s};
                auto [ec] = co_await timer.async_wait(as_code);
                cancelled = ec == asio::error::operation_aborted;
            };
            auto caller = [&]() -> asio::awaitable<void> {
                co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation()
                );
                co_await holdfast::with_lease(lock, body);
            };
            asio::cancellation_signal signal;
            std::optional<error_code> ended;
            asio::co_spawn(
                co_await asio::this_coro::executor,
                caller,
                asio::bind_cancellation_slot(signal.slot(), keep_code(ended))
            );
            BOOST_TEST(co_await co_eventually(5s, [&] { return entered; }));
            for (auto const type :
                 {asio::cancellation_type::partial, asio::cancellation_type::total}) {
                signal.emit(type);
                co_await sleep_for(5ms);
            }
            BOOST_TEST(!ended.has_value());
            server.del("a");
            BOOST_TEST(co_await co_eventually(10s, [&] { return ended.has_value(); }));
            BOOST_TEST(cancelled);
            BOOST_TEST((ended == errc::lease_lost));
        },
        short_config()
    );
}

// Bodies that end at once, on executors that are no strands: their ends meet the watch's beginning.
BOOST_AUTO_TEST_CASE(with_lease_ends_on_a_bare_thread_pool) {
    constexpr int rounds = 200;
    auto work = [](holdfast::lock lock) -> asio::awaitable<int> {
        auto nothing = [](holdfast::lease&) -> asio::awaitable<int> { co_return 1; };
        int done = 0;
        for (int n = 0; n < rounds; ++n) {
            done += co_await holdfast::with_lease(lock, nothing);
        }
        co_return done;
    };
    check_on_a_bare_pool(work, rounds);
}

// The outer one gives the inner one something to be cancelled by.
BOOST_AUTO_TEST_CASE(with_lease_can_be_nested_on_a_bare_thread_pool) {
    constexpr int rounds = 300;
    auto work = [](holdfast::lock lock) -> asio::awaitable<int> {
        auto const me = holdfast::owner::make();
        auto nothing = [](holdfast::lease&) -> asio::awaitable<int> { co_return 1; };
        auto outer = [&](holdfast::lease&) -> asio::awaitable<int> {
            int done = 0;
            for (int n = 0; n < rounds; ++n) {
                done += co_await holdfast::with_lease(lock, me, nothing);
            }
            co_return done;
        };
        co_return co_await holdfast::with_lease(lock, me, outer);
    };
    check_on_a_bare_pool(work, rounds);
}

BOOST_AUTO_TEST_CASE(with_lease_gives_the_lock_back_when_its_context_is_destroyed) {
    holdfast::test::redis_server server;
    asio::io_context clients;
    holdfast::client client{clients, server.url()};
    for (bool const young : {true, false}) {
        {
            asio::io_context holders;
            bool held = false;
            auto body = [&](holdfast::lease&) -> asio::awaitable<void> {
                held = true;
                co_await sleep_for(1h);
            };
            auto const hold = [&]() -> asio::awaitable<void> {
                co_await holdfast::with_lease(client.lock("a"), body);
            };
            asio::co_spawn(holders, hold, asio::detached);
            BOOST_TEST(run_until({&clients, &holders}, 5s, [&] { return held; }));
            if (!young) {
                run_for({&clients, &holders}, 60ms);
            }
        }
        BOOST_TEST(run_until({&clients}, 5s, [&] { return server.probe().lock_keys().empty(); }));
        BOOST_TEST(client.stats().leases_now == 0U);
    }
}

// What a body returns need not have a default.
BOOST_AUTO_TEST_CASE(with_lease_returns_what_has_no_default_and_is_only_moved) {
    struct result {
        explicit result(int n) : value{std::make_unique<int>(n)} {}
        std::unique_ptr<int> value;
    };
    with_fake_client([](fake_server&, holdfast::client& client) -> asio::awaitable<void> {
        auto const lock = client.lock("a");
        auto body = [](holdfast::lease&) -> asio::awaitable<result> { co_return result{7}; };
        auto got = co_await holdfast::with_lease(lock, body);
        BOOST_TEST(*got.value == 7);
    });
}
