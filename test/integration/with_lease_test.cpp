// What with_lease does on every path out.

#include "support/gated_server.hpp"
#include "support/run_contexts.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace holdfast::test;

namespace {

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
    redis_server server;
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

/// `with_lease` in a coroutine of its own that lets every cancellation through.
struct cancellable_call {
    template <class Body>
    cancellable_call(asio::any_io_executor executor, holdfast::lock const& lock, Body& body) {
        auto caller = [](holdfast::lock on, Body& work) -> task {
            co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
            co_await holdfast::with_lease(on, work);
        };
        asio::co_spawn(
            executor,
            caller(lock, body),
            asio::bind_cancellation_slot(signal.slot(), keep_code(ended))
        );
    }

    asio::cancellation_signal signal;
    std::optional<error_code> ended;
};

}  // namespace

BOOST_AUTO_TEST_CASE(an_exception_in_the_critical_section_releases_the_lock) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        auto const lock = client.lock("a");
        auto body = [&](holdfast::lease& lease) -> task {
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

BOOST_AUTO_TEST_CASE(an_exception_past_a_lease_releases_the_lock) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        try {
            auto const lease = co_await client.lock("a").acquire();
            throw std::domain_error{"no"};
        } catch (std::domain_error const&) {
        }
        BOOST_TEST(co_await co_eventually(5s, [&] { return server.lock_keys().empty(); }));
    });
}

BOOST_AUTO_TEST_CASE(with_lease_returns_what_the_body_returned) {
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        auto const lock = client.lock("a");
        auto body = [&](holdfast::lease& lease) -> asio::awaitable<std::string> {
            BOOST_TEST(server.exists("a"));
            co_return lease.valid() ? "value" : "";
        };
        BOOST_TEST(co_await holdfast::with_lease(lock, body) == "value");
        BOOST_TEST(!server.exists("a"));
        bool ran = false;
        auto nothing = [&](holdfast::lease&) -> task {
            ran = true;
            co_return;
        };
        co_await holdfast::with_lease(lock, nothing);
        BOOST_TEST(ran);
        // A body that releases by itself is not cancelled for it.
        auto releases = [&](holdfast::lease& lease) -> asio::awaitable<int> {
            co_await lease.release();
            co_await sleep_for(10ms);
            co_return 7;
        };
        BOOST_TEST(co_await holdfast::with_lease(lock, releases) == 7);
        BOOST_TEST(server.lock_keys().empty());
    });
}

BOOST_AUTO_TEST_CASE(with_lease_cancels_the_body_when_the_lease_is_lost) {
    with_gates(
        [](gated_server& server, holdfast::client& client) -> task {
            auto const lock = client.lock("a");
            bool cancelled = false;
            std::optional<lease_state> seen;
            auto body = [&](holdfast::lease& lease) -> asio::awaitable<int> {
                server.del("a");
                asio::steady_timer timer{co_await asio::this_coro::executor, 1h};
                auto [ec] = co_await timer.async_wait(as_result);
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
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        auto const lock = client.lock("a");
        auto const executor = co_await asio::this_coro::executor;
        for (auto const type :
             {asio::cancellation_type::terminal,
              asio::cancellation_type::partial,
              asio::cancellation_type::total}) {
            bool entered = false;
            auto body = [&](holdfast::lease&) -> task {
                entered = true;
                co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation()
                );
                asio::steady_timer timer{co_await asio::this_coro::executor, 1h};
                co_await timer.async_wait();
            };
            cancellable_call first{executor, lock, body};
            BOOST_TEST(co_await co_eventually(5s, [&] { return entered; }));
            co_await sleep_for(5ms);
            first.signal.emit(type);
            BOOST_TEST(co_await co_eventually(5s, [&] { return first.ended.has_value(); }));
            BOOST_TEST((first.ended == asio::error::operation_aborted));
            BOOST_TEST(!server.exists("a"));

            // While it waits for the lock.
            server.lock_as_other("a", 1h);
            entered = false;
            cancellable_call again{executor, lock, body};
            co_await sleep_for(20ms);
            again.signal.emit(type);
            BOOST_TEST(co_await co_eventually(5s, [&] { return again.ended.has_value(); }));
            BOOST_TEST((again.ended == asio::error::operation_aborted));
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
    with_gates(
        [](gated_server& server, holdfast::client& client) -> task {
            auto const lock = client.lock("a");
            bool entered = false;
            bool cancelled = false;
            auto body = [&](holdfast::lease&) -> task {
                entered = true;
                asio::steady_timer timer{co_await asio::this_coro::executor, 20s};
                auto [ec] = co_await timer.async_wait(as_result);
                cancelled = ec == asio::error::operation_aborted;
            };
            cancellable_call pending{co_await asio::this_coro::executor, lock, body};
            BOOST_TEST(co_await co_eventually(5s, [&] { return entered; }));
            for (auto const type :
                 {asio::cancellation_type::partial, asio::cancellation_type::total}) {
                pending.signal.emit(type);
                co_await sleep_for(5ms);
            }
            BOOST_TEST(!pending.ended.has_value());
            server.del("a");
            BOOST_TEST(co_await co_eventually(10s, [&] { return pending.ended.has_value(); }));
            BOOST_TEST(cancelled);
            BOOST_TEST((pending.ended == errc::lease_lost));
        },
        short_config()
    );
}

// What was let pass once does not count for ever: the lease is gone.
BOOST_AUTO_TEST_CASE(with_lease_cancels_a_body_on_loss_that_went_on_after_the_callers_cancellation
) {
    with_gates(
        [](gated_server& server, holdfast::client& client) -> task {
            auto const lock = client.lock("a");
            std::vector<error_code> slept;
            auto body = [&](holdfast::lease&) -> task {
                co_await asio::this_coro::throw_if_cancelled(false);
                for (int i = 0; i < 2; ++i) {
                    asio::steady_timer timer{co_await asio::this_coro::executor, 20s};
                    slept.emplace_back();
                    auto [ec] = co_await timer.async_wait(as_result);
                    slept.back() = ec;
                }
            };
            cancellable_call pending{co_await asio::this_coro::executor, lock, body};
            BOOST_TEST(co_await co_eventually(5s, [&] { return slept.size() == 1; }));
            pending.signal.emit(asio::cancellation_type::terminal);
            BOOST_TEST(co_await co_eventually(5s, [&] { return slept.size() == 2; }));
            BOOST_TEST(!pending.ended.has_value());
            server.del("a");
            BOOST_TEST(co_await co_eventually(10s, [&] { return pending.ended.has_value(); }));
            BOOST_TEST((slept.back() == asio::error::operation_aborted));
            BOOST_TEST((pending.ended == errc::lease_lost));
        },
        short_config()
    );
}

// A body that was a temporary is gone when the coroutine starts later.
BOOST_AUTO_TEST_CASE(with_lease_keeps_a_copy_of_an_rvalue_and_refers_to_an_lvalue) {
    struct recorder {
        recorder const** called;
        task operator()(holdfast::lease&) const {
            *called = this;
            co_return;
        }
    };
    with_gates([](gated_server&, holdfast::client& client) -> task {
        auto const lock = client.lock("a");
        recorder const* called = nullptr;
        recorder body{&called};
        auto later = holdfast::with_lease(lock, std::move(body));
        co_await std::move(later);
        BOOST_TEST(called != nullptr);
        BOOST_TEST(called != &body);
        co_await holdfast::with_lease(lock, body);
        BOOST_TEST(called == &body);
    });
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

// The outer call can cancel the inner one.
BOOST_AUTO_TEST_CASE(with_lease_can_be_nested_on_a_bare_thread_pool) {
    constexpr int rounds = 300;
    auto work = [](holdfast::lock lock) -> asio::awaitable<int> {
        auto const me = holdfast::owner::make();
        auto nothing = [](holdfast::lease&) -> asio::awaitable<int> { co_return 1; };
        auto outer = [&](holdfast::lease&) -> asio::awaitable<int> {
            int done = 0;
            for (int n = 0; n < rounds; ++n) {
                done += co_await holdfast::with_lease(lock, nothing, {.owner = me});
            }
            co_return done;
        };
        co_return co_await holdfast::with_lease(lock, outer, {.owner = me});
    };
    check_on_a_bare_pool(work, rounds);
}

BOOST_AUTO_TEST_CASE(with_lease_gives_the_lock_back_when_its_context_is_destroyed) {
    redis_server server;
    asio::io_context clients;
    holdfast::client client{clients, server.url()};
    for (bool const young : {true, false}) {
        auto const hold = [&](bool& held) -> task {
            auto body = [&](holdfast::lease&) -> task {
                held = true;
                co_await sleep_for(1h);
            };
            co_await holdfast::with_lease(client.lock("a"), body);
        };
        BOOST_TEST(run_and_destroy(clients, hold, young));
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
    with_gates([](gated_server&, holdfast::client& client) -> task {
        auto const lock = client.lock("a");
        auto body = [](holdfast::lease&) -> asio::awaitable<result> { co_return result{7}; };
        auto got = co_await holdfast::with_lease(lock, body);
        BOOST_TEST(*got.value == 7);
    });
}
