// Calling from other threads: futures, callbacks on other contexts, strands. Boost.Test is not
// thread-safe: results are counted, and looked at in the end.

#include "support/one_server.hpp"
#include "support/running_context.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>

#include <atomic>
#include <future>
#include <memory>
#include <utility>

using namespace holdfast::test;
using holdfast::client;
using holdfast::lease;
using holdfast::lock_info;

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
    lease const busy = get(l.try_acquire(asio::use_future));
    BOOST_TEST(!busy);
    lease const still_busy = get(l.try_acquire_for(500ms, asio::use_future));
    BOOST_TEST(!still_busy);
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

BOOST_AUTO_TEST_CASE(a_coroutine_on_a_strand_goes_on_there_after_every_operation) {
    redis_server server;
    auto body = [&](asio::any_io_executor executor) -> task {
        client c{executor, server.url()};
        constexpr int coroutines = 20;
        std::atomic<int> done = 0;
        std::atomic<int> strayed = 0;
        std::atomic<int> unheld = 0;
        auto work = [&](asio::strand<asio::any_io_executor> strand, int number) -> task {
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
