// Every way of calling, on a real server: coroutines, callbacks, futures, tuples, error codes by
// reference, time limits, strands, four threads. Results arrive on the associated executor, and
// never inside the call that started the operation.

#include "support/redis_server.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using holdfast::client;
using holdfast::errc;
using holdfast::error_code;
using holdfast::lease;
using holdfast::lease_state;
using holdfast::lock;
using holdfast::lock_info;
using holdfast::loss_reason;
using holdfast::test::co_eventually;
using holdfast::test::redis_server;
using holdfast::test::run_with_deadline;

namespace {

constexpr auto tuple = asio::as_tuple(asio::use_awaitable);

/// A context run by threads of its own until it has nothing to do.
class running_context {
public:
    explicit running_context(int threads) : work_{context_.get_executor()} {
        for (int i = 0; i < threads; ++i) {
            threads_.emplace_back([this] { context_.run(); });
        }
    }
    ~running_context() {
        work_.reset();
        for (auto& thread : threads_) {
            thread.join();
        }
    }
    running_context(running_context const&) = delete;
    running_context& operator=(running_context const&) = delete;

    asio::io_context& get() { return context_; }

    bool runs_here() const {
        return std::any_of(threads_.begin(), threads_.end(), [](std::thread const& one) {
            return one.get_id() == std::this_thread::get_id();
        });
    }

private:
    asio::io_context context_;
    asio::executor_work_guard<asio::io_context::executor_type> work_;
    std::vector<std::thread> threads_;
};

/// The result of a future, or a failure of the test when it does not come.
template <class T>
T get(std::future<T> result) {
    if (result.wait_for(20s) != std::future_status::ready) {
        throw std::runtime_error{"the future did not become ready"};
    }
    return result.get();
}

/// Makes callbacks that check where and when they are called.
class watch {
public:
    using strand = asio::strand<asio::any_io_executor>;

    explicit watch(strand expected) : strand_{std::move(expected)} {}

    /// Starts an operation with `start(handler)` and waits for its callback, which has to come on
    /// the strand after `start` returned.
    template <class... Results, class Start>
    asio::awaitable<std::tuple<error_code, Results...>> completes(Start start) {
        struct shared {
            bool starting = true;
            bool called = false;
            bool inside = false;
            bool elsewhere = false;
            std::optional<std::tuple<error_code, Results...>> result;
        };
        auto const seen = std::make_shared<shared>();
        auto handler = [seen, where = strand_](error_code ec, Results... results) {
            seen->inside = seen->starting;
            seen->elsewhere = !where.running_in_this_thread();
            seen->result.emplace(ec, std::move(results)...);
            seen->called = true;
        };
        // On the strand itself, where a result that is dispatched would run at once.
        co_await asio::post(asio::bind_executor(strand_, asio::use_awaitable));
        start(asio::bind_executor(strand_, std::move(handler)));
        seen->starting = false;
        auto arrived = [seen] { return seen->called; };
        bool const came = co_await co_eventually(20s, arrived);
        BOOST_REQUIRE(came);
        BOOST_TEST(!seen->inside);
        BOOST_TEST(!seen->elsewhere);
        co_return std::move(*seen->result);
    }

private:
    strand strand_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(by_co_await_with_the_default_token) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        client c{executor, server.url()};
        co_await c.ready();
        auto l = c.lock("a");
        auto held = co_await l.acquire();
        BOOST_TEST(held.valid());
        auto const deadline = held.deadline();
        co_await held.renew();
        BOOST_TEST((held.deadline() >= deadline));
        lock_info const info = co_await l.inspect();
        BOOST_TEST(info.held);
        lease const busy = co_await l.try_acquire();
        BOOST_TEST(!busy);
        lease const still_busy = co_await l.try_acquire_for(10ms);
        BOOST_TEST(!still_busy);
        bool const freed = co_await l.force_release();
        BOOST_TEST(freed);
        BOOST_CHECK_EXCEPTION(
            co_await held.release(),
            boost::system::system_error,
            [](auto const& e) { return e.code() == errc::lease_lost; }
        );
        auto again = co_await l.try_acquire();
        co_await again.release();
        co_await c.shutdown();
        BOOST_CHECK_EXCEPTION(
            static_cast<void>(co_await l.acquire()),
            boost::system::system_error,
            [](auto const& e) { return e.code() == errc::client_stopped; }
        );
    });
}

BOOST_AUTO_TEST_CASE(by_co_await_with_tuples_and_with_error_codes_by_reference) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        client c{executor, server.url()};
        auto [ready] = co_await c.ready(tuple);
        BOOST_TEST(!ready);
        auto l = c.lock("a");
        auto [acquired, held] = co_await l.acquire(tuple);
        BOOST_TEST(!acquired);
        BOOST_TEST(held.valid());
        auto [tried, busy] = co_await l.try_acquire(asio::as_tuple);
        BOOST_TEST(!tried);
        BOOST_TEST(!busy);
        auto [inspected, info] = co_await l.inspect(tuple);
        BOOST_TEST(!inspected);
        BOOST_TEST(info.held);
        auto [renewed] = co_await held.renew(tuple);
        BOOST_TEST(!renewed);
        auto [released] = co_await held.release(tuple);
        BOOST_TEST(!released);
        auto [twice] = co_await held.release(tuple);
        BOOST_TEST((twice == errc::not_held));
        auto [watched, reason] = co_await held.wait_lost(tuple);
        BOOST_TEST((watched == errc::not_held));
        BOOST_TEST((reason == loss_reason::none));

        error_code ec;
        auto second = co_await l.acquire(asio::redirect_error(asio::use_awaitable, ec));
        BOOST_TEST(!ec);
        BOOST_TEST(second.valid());
        co_await second.release(asio::redirect_error(ec));
        BOOST_TEST(!ec);
        co_await second.renew(asio::redirect_error(asio::use_awaitable, ec));
        BOOST_TEST((ec == errc::not_held));
        lease const none =
            co_await c.lock("").try_acquire(asio::redirect_error(asio::use_awaitable, ec));
        BOOST_TEST((ec == errc::invalid_name));
        BOOST_TEST(!none);
        bool const freed = co_await l.force_release(asio::redirect_error(asio::use_awaitable, ec));
        BOOST_TEST(!ec);
        BOOST_TEST(!freed);
        auto [stopped] = co_await c.shutdown(tuple);
        BOOST_TEST(!stopped);
    });
}

BOOST_AUTO_TEST_CASE(a_deferred_operation_starts_when_it_is_awaited) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        client c{executor, server.url()};
        co_await c.ready();
        auto later = c.lock("a").acquire(asio::deferred);
        auto first = co_await c.lock("a").try_acquire();
        BOOST_TEST(first.valid());
        co_await first.release();
        auto held = co_await std::move(later);
        BOOST_TEST(held.valid());
        co_await held.release();
    });
}

BOOST_AUTO_TEST_CASE(every_callback_comes_on_its_executor_and_never_inside_the_call) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        watch::strand const strand{executor};
        watch on{strand};
        client c{executor, server.url()};
        auto l = c.lock("a");
        {
            auto start = [&](auto token) { c.ready(std::move(token)); };
            auto [ec] = co_await on.completes(start);
            BOOST_TEST(!ec);
        }
        // The second time there is nothing to wait for.
        {
            auto start = [&](auto token) { c.ready(std::move(token)); };
            auto [ec] = co_await on.completes(start);
            BOOST_TEST(!ec);
        }
        lease held;
        {
            auto start = [&](auto token) { l.acquire(std::move(token)); };
            auto [ec, granted] = co_await on.completes<lease>(start);
            BOOST_TEST(!ec);
            held = std::move(granted);
            BOOST_TEST(held.valid());
        }
        {
            auto start = [&](auto token) { l.try_acquire(std::move(token)); };
            auto [ec, busy] = co_await on.completes<lease>(start);
            BOOST_TEST(!ec);
            BOOST_TEST(!busy);
        }
        {
            auto start = [&](auto token) { l.try_acquire_for(20ms, std::move(token)); };
            auto [ec, busy] = co_await on.completes<lease>(start);
            BOOST_TEST(!ec);
            BOOST_TEST(!busy);
        }
        {
            auto start = [&](auto token) { l.inspect(std::move(token)); };
            auto [ec, info] = co_await on.completes<lock_info>(start);
            BOOST_TEST(!ec);
            BOOST_TEST(info.held);
        }
        {
            auto start = [&](auto token) { held.renew(std::move(token)); };
            auto [ec] = co_await on.completes(start);
            BOOST_TEST(!ec);
        }
        {
            auto start = [&](auto token) { l.force_release(std::move(token)); };
            auto [ec, freed] = co_await on.completes<bool>(start);
            BOOST_TEST(!ec);
            BOOST_TEST(freed);
        }
        {
            auto start = [&](auto token) {
                held.wait_lost(std::move(token));
                held.renew(asio::detached);
            };
            auto [ec, reason] = co_await on.completes<loss_reason>(start);
            BOOST_TEST(!ec);
            BOOST_TEST((reason == loss_reason::deleted));
        }
        // What is known at once is not said at once.
        {
            auto start = [&](auto token) { held.wait_lost(std::move(token)); };
            auto [ec, reason] = co_await on.completes<loss_reason>(start);
            BOOST_TEST(!ec);
        }
        {
            auto start = [&](auto token) { held.release(std::move(token)); };
            auto [ec] = co_await on.completes(start);
            BOOST_TEST((ec == errc::lease_lost));
        }
        {
            auto start = [&](auto token) { held.release(std::move(token)); };
            auto [ec] = co_await on.completes(start);
            BOOST_TEST((ec == errc::not_held));
        }
        {
            auto start = [&](auto token) { held.renew(std::move(token)); };
            auto [ec] = co_await on.completes(start);
            BOOST_TEST((ec == errc::not_held));
        }
        {
            lease empty;
            auto start = [&](auto token) { empty.release(std::move(token)); };
            auto [ec] = co_await on.completes(start);
            BOOST_TEST((ec == errc::not_held));
        }
        {
            auto start = [&](auto token) { c.lock("").acquire(std::move(token)); };
            auto [ec, none] = co_await on.completes<lease>(start);
            BOOST_TEST((ec == errc::invalid_name));
        }
        {
            auto start = [&](auto token) { c.lock("").inspect(std::move(token)); };
            auto [ec, none] = co_await on.completes<lock_info>(start);
            BOOST_TEST((ec == errc::invalid_name));
        }
        for (int i = 0; i < 2; ++i) {
            auto start = [&](auto token) { c.shutdown(std::move(token)); };
            auto [ec] = co_await on.completes(start);
            BOOST_TEST(!ec);
        }
        {
            auto start = [&](auto token) { l.acquire(std::move(token)); };
            auto [ec, none] = co_await on.completes<lease>(start);
            BOOST_TEST((ec == errc::client_stopped));
        }
    });
}

BOOST_AUTO_TEST_CASE(callbacks_may_own_what_can_only_be_moved) {
    redis_server server;
    running_context threads{1};
    client c{threads.get(), server.url()};
    struct outcome {
        error_code acquired{};
        bool here = false;
        error_code released{};
        bool empty = false;
        int owned = 0;
    };
    std::promise<outcome> done;
    c.lock("a").acquire([&, owned = std::make_unique<int>(7)](error_code ec, lease held) mutable {
        outcome seen{.acquired = ec, .here = threads.runs_here()};
        auto kept = std::make_unique<lease>(std::move(held));
        auto& the_lease = *kept;
        the_lease.release([&, seen, owned = std::move(owned), kept = std::move(kept)](
                              error_code released
                          ) mutable {
            seen.released = released;
            seen.empty = !*kept;
            seen.owned = *owned;
            done.set_value(seen);
        });
    });
    // Looked at here: Boost.Test is not thread-safe.
    auto const seen = get(done.get_future());
    BOOST_TEST(!seen.acquired);
    BOOST_TEST(seen.here);
    BOOST_TEST(!seen.released);
    BOOST_TEST(seen.empty);
    BOOST_TEST(seen.owned == 7);
}

BOOST_AUTO_TEST_CASE(a_callback_without_an_executor_comes_on_that_of_the_client) {
    redis_server server;
    running_context threads{2};
    client c{threads.get(), server.url()};
    std::promise<bool> here;
    c.ready([&](error_code) { here.set_value(threads.runs_here()); });
    BOOST_TEST(get(here.get_future()));
    // An empty lease has no client; its answer still does not come inside the call.
    std::atomic<bool> starting = true;
    std::promise<bool> inside;
    lease empty;
    empty.release([&](error_code) { inside.set_value(starting); });
    starting = false;
    static_cast<void>(get(inside.get_future()));
}

BOOST_AUTO_TEST_CASE(a_callback_comes_on_its_executor_though_that_is_in_another_context) {
    redis_server server;
    running_context threads{1};
    asio::thread_pool elsewhere{1};
    client c{threads.get(), server.url()};
    std::promise<bool> right;
    c.lock("a").acquire(asio::bind_executor(elsewhere, [&](error_code ec, lease held) {
        bool const there = elsewhere.get_executor().running_in_this_thread();
        right.set_value(!ec && held.valid() && there && !threads.runs_here());
    }));
    BOOST_TEST(get(right.get_future()));
    elsewhere.join();
}

BOOST_AUTO_TEST_CASE(by_futures_from_a_thread_that_runs_no_context) {
    redis_server server;
    running_context threads{1};
    client c{threads.get(), server.url()};
    get(c.ready(asio::use_future));
    auto l = c.lock("a");
    lease held = get(l.acquire(asio::use_future));
    BOOST_TEST(held.valid());
    BOOST_TEST(!get(l.try_acquire(asio::use_future)));
    BOOST_TEST(!get(l.try_acquire_for(10ms, asio::use_future)));
    BOOST_TEST(get(l.inspect(asio::use_future)).held);
    get(held.renew(asio::use_future));
    auto lost = held.wait_lost(asio::use_future);
    BOOST_TEST(get(l.force_release(asio::use_future)));
    BOOST_CHECK_EXCEPTION(
        get(held.renew(asio::use_future)),
        boost::system::system_error,
        [](auto const& e) { return e.code() == errc::lease_lost; }
    );
    BOOST_TEST((get(std::move(lost)) == loss_reason::deleted));
    BOOST_CHECK_EXCEPTION(
        get(held.release(asio::use_future)),
        boost::system::system_error,
        [](auto const& e) { return e.code() == errc::lease_lost; }
    );
    auto [ec, none] = get(c.lock("").acquire(asio::as_tuple(asio::use_future)));
    BOOST_TEST((ec == errc::invalid_name));
    get(c.shutdown(asio::use_future));
}

BOOST_AUTO_TEST_CASE(cancel_after_ends_every_operation_that_takes_too_long) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        auto settings = holdfast::parse_url(server.url());
        settings.shutdown_timeout = 500ms;
        client c{executor, settings};
        auto l = c.lock("a");
        auto held = co_await l.acquire();
        constexpr auto soon = 50ms;
        {
            auto [ec, none] = co_await l.acquire(asio::cancel_after(soon, tuple));
            BOOST_TEST((ec == asio::error::operation_aborted), ec.message());
            BOOST_TEST(!none);
        }
        {
            auto [ec, none] = co_await l.try_acquire_for(1h, asio::cancel_after(soon, tuple));
            BOOST_TEST((ec == asio::error::operation_aborted), ec.message());
        }
        {
            auto [ec, reason] = co_await held.wait_lost(asio::cancel_after(soon, tuple));
            BOOST_TEST((ec == asio::error::operation_aborted), ec.message());
        }
        BOOST_TEST(held.valid());
        // Now nobody answers.
        server.pause();
        {
            auto [ec, none] = co_await c.lock("b").try_acquire(asio::cancel_after(soon, tuple));
            BOOST_TEST((ec == asio::error::operation_aborted), ec.message());
        }
        {
            auto [ec, info] = co_await l.inspect(asio::cancel_after(soon, tuple));
            BOOST_TEST((ec == asio::error::operation_aborted), ec.message());
        }
        {
            auto [ec, freed] = co_await c.lock("c").force_release(asio::cancel_after(soon, tuple));
            BOOST_TEST((ec == asio::error::operation_aborted), ec.message());
        }
        {
            auto [ec] = co_await held.renew(asio::cancel_after(soon, tuple));
            BOOST_TEST((ec == asio::error::operation_aborted), ec.message());
        }
        {
            auto [ec] = co_await held.release(asio::cancel_after(soon, tuple));
            BOOST_TEST((ec == asio::error::operation_aborted), ec.message());
        }
        {
            client unready{executor, settings};
            auto [ec] = co_await unready.ready(asio::cancel_after(soon, tuple));
            BOOST_TEST((ec == asio::error::operation_aborted), ec.message());
        }
        {
            auto [ec] = co_await c.shutdown(asio::cancel_after(soon, tuple));
            BOOST_TEST((ec == asio::error::operation_aborted), ec.message());
        }
        server.resume();
    });
}

BOOST_AUTO_TEST_CASE(cancel_after_leaves_alone_what_is_in_time) {
    redis_server server;
    run_with_deadline([&](asio::any_io_executor executor) -> asio::awaitable<void> {
        client c{executor, server.url()};
        co_await c.ready(asio::cancel_after(1h));
        auto l = c.lock("a");
        auto held = co_await l.acquire(asio::cancel_after(1h));
        lease const busy = co_await l.try_acquire(asio::cancel_after(1h));
        BOOST_TEST(!busy);
        lease const still_busy = co_await l.try_acquire_for(10ms, asio::cancel_after(1h));
        BOOST_TEST(!still_busy);
        lock_info const info = co_await l.inspect(asio::cancel_after(1h));
        BOOST_TEST(info.held);
        co_await held.renew(asio::cancel_after(1h));
        co_await held.release(asio::cancel_after(1h));
        bool const freed = co_await l.force_release(asio::cancel_after(1h));
        BOOST_TEST(!freed);
        co_await c.shutdown(asio::cancel_after(1h));
    });
}

BOOST_AUTO_TEST_CASE(a_coroutine_on_a_strand_goes_on_there_after_every_operation) {
    redis_server server;
    auto body = [&](asio::any_io_executor executor) -> asio::awaitable<void> {
        client c{executor, server.url()};
        constexpr int coroutines = 20;
        std::atomic<int> done = 0;
        std::atomic<int> strayed = 0;
        std::atomic<int> unheld = 0;  // Boost.Test is not thread-safe: looked at in the end
        auto work = [&](asio::strand<asio::any_io_executor> strand,
                        int number) -> asio::awaitable<void> {
            auto const here = [&] { strayed += strand.running_in_this_thread() ? 0 : 1; };
            auto l = c.lock("strand:{}", number % 5);
            auto held = co_await l.acquire();
            here();
            co_await held.renew();
            here();
            lock_info const info = co_await l.inspect();
            here();
            unheld += info.held ? 0 : 1;
            co_await held.release();
            here();
            ++done;
        };
        for (int i = 0; i < coroutines; ++i) {
            asio::strand<asio::any_io_executor> const strand{executor};
            asio::co_spawn(strand, work(strand, i), asio::detached);
        }
        auto all_done = [&] { return done == coroutines; };
        bool const in_time = co_await co_eventually(20s, all_done);
        BOOST_TEST(in_time);
        BOOST_TEST(unheld == 0);
        BOOST_TEST(strayed == 0);
        BOOST_TEST(c.stats().leases_now == 0U);
    };
    run_with_deadline(body, 30s, 4);
}

BOOST_AUTO_TEST_CASE(four_threads_run_one_context_and_the_lock_still_excludes) {
    redis_server server;
    auto body = [&](asio::any_io_executor executor) -> asio::awaitable<void> {
        client c{executor, server.url()};
        constexpr int coroutines = 40;
        constexpr int rounds = 5;
        // Protected by the lock alone; atomic so that a failure is a count and not a race.
        std::atomic<int> inside = 0;
        std::atomic<int> overlaps = 0;
        std::atomic<int> done = 0;
        std::atomic<std::uint64_t> newest = 0;
        std::atomic<int> stale = 0;
        auto work = [&]() -> asio::awaitable<void> {
            auto l = c.lock("shared");
            for (int i = 0; i < rounds; ++i) {
                auto held = co_await l.acquire();
                overlaps += ++inside == 1 ? 0 : 1;
                stale += newest.exchange(held.token().value) < held.token().value ? 0 : 1;
                auto own = co_await asio::this_coro::executor;
                co_await asio::post(own, asio::use_awaitable);
                --inside;
                co_await held.release();
            }
            ++done;
        };
        // Straight on the context: each resumption may be on any of the threads.
        for (int i = 0; i < coroutines; ++i) {
            asio::co_spawn(executor, work(), asio::detached);
        }
        auto all_done = [&] { return done == coroutines; };
        bool const in_time = co_await co_eventually(25s, all_done);
        BOOST_TEST(in_time);
        BOOST_TEST(overlaps == 0);
        BOOST_TEST(stale == 0);
        BOOST_TEST(c.stats().grants == std::uint64_t{coroutines * rounds});
    };
    run_with_deadline(body, 40s, 4);
}

BOOST_AUTO_TEST_CASE(operations_may_be_started_by_threads_that_run_nothing) {
    redis_server server;
    running_context threads{4};
    client c{threads.get(), server.url()};
    std::atomic<int> inside = 0;
    std::atomic<int> overlaps = 0;
    std::vector<std::thread> callers;
    for (int i = 0; i < 4; ++i) {
        callers.emplace_back([&] {
            for (int round = 0; round < 25; ++round) {
                auto held = get(c.lock("a").acquire(asio::use_future));
                overlaps += ++inside == 1 ? 0 : 1;
                --inside;
                get(held.release(asio::use_future));
            }
        });
    }
    for (auto& caller : callers) {
        caller.join();
    }
    BOOST_TEST(overlaps == 0);
    BOOST_TEST(c.stats().releases == 100U);
}
