// Every way of calling: coroutines, callbacks, tuples, error codes by reference, time limits.
// Results arrive on the associated executor, and never inside the call that started the operation.

#include "support/one_server.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/system_error.hpp>

#include <memory>
#include <tuple>
#include <utility>

using namespace holdfast::test;
using holdfast::client;
using holdfast::lease;
using holdfast::lock_info;

namespace {

/// Makes callbacks that check where and when they are called.
class caller {
public:
    using strand = asio::strand<asio::any_io_executor>;

    explicit caller(strand expected) : strand_{std::move(expected)} {}

    /// Starts an operation with `start(handler)` and waits for its callback, which has to come on
    /// the strand, after `start` returned, with the code expected.
    template <class Start>
    task operator()(error_code expected, Start start) {
        struct shared {
            bool starting = true;
            bool called = false;
            bool inside = false;
            bool elsewhere = false;
            error_code ec{};
        };
        auto const seen = std::make_shared<shared>();
        auto handler = [seen, where = strand_](error_code ec, auto&&...) {
            seen->inside = seen->starting;
            seen->elsewhere = !where.running_in_this_thread();
            seen->ec = ec;
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
        BOOST_TEST((seen->ec == expected), seen->ec.message());
    }

private:
    strand strand_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(by_co_await_with_the_default_token) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
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
        lease const still_busy = co_await l.try_acquire_for(500ms);
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
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        client c{executor, server.url()};
        auto [ready] = co_await c.ready(as_result);
        BOOST_TEST(!ready);
        auto l = c.lock("a");
        auto [acquired, held] = co_await l.acquire(as_result);
        BOOST_TEST(!acquired);
        BOOST_TEST(held.valid());
        auto [tried, busy] = co_await l.try_acquire(asio::as_tuple);
        BOOST_TEST(!tried);
        BOOST_TEST(!busy);
        auto [inspected, info] = co_await l.inspect(as_result);
        BOOST_TEST(!inspected);
        BOOST_TEST(info.held);
        auto [renewed] = co_await held.renew(as_result);
        BOOST_TEST(!renewed);
        auto [released] = co_await held.release(as_result);
        BOOST_TEST(!released);
        auto [twice] = co_await held.release(as_result);
        BOOST_TEST((twice == errc::not_held));
        auto [watched, reason] = co_await held.wait_lost(as_result);
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
        auto [stopped] = co_await c.shutdown(as_result);
        BOOST_TEST(!stopped);
    });
}

BOOST_AUTO_TEST_CASE(a_deferred_operation_starts_when_it_is_awaited) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
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
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        caller call{asio::make_strand(executor)};
        client c{executor, server.url()};
        auto l = c.lock("a");
        lease held;
        lease empty;
        auto const success = error_code{};
        co_await call(success, [&](auto token) { c.ready(token); });
        // The second time there is nothing to wait for.
        co_await call(success, [&](auto token) { c.ready(token); });
        co_await call(success, [&](auto token) { l.acquire(token); });
        held = co_await l.acquire();
        co_await call(success, [&](auto token) { l.try_acquire(token); });
        co_await call(success, [&](auto token) { l.try_acquire_for(500ms, token); });
        co_await call(success, [&](auto token) { l.inspect(token); });
        co_await call(success, [&](auto token) { held.renew(token); });
        co_await call(success, [&](auto token) { l.force_release(token); });
        co_await call(success, [&](auto token) {
            held.wait_lost(token);
            held.renew(asio::detached);
        });
        // The result is known at once, and still does not come inside the call.
        co_await call(success, [&](auto token) { held.wait_lost(token); });
        co_await call(errc::lease_lost, [&](auto token) { held.release(token); });
        co_await call(errc::not_held, [&](auto token) { held.release(token); });
        co_await call(errc::not_held, [&](auto token) { held.renew(token); });
        co_await call(errc::not_held, [&](auto token) { empty.release(token); });
        co_await call(errc::invalid_name, [&](auto token) { c.lock("").acquire(token); });
        co_await call(errc::invalid_name, [&](auto token) { c.lock("").inspect(token); });
        co_await call(success, [&](auto token) { c.shutdown(token); });
        co_await call(success, [&](auto token) { c.shutdown(token); });
        co_await call(errc::client_stopped, [&](auto token) { l.acquire(token); });
    });
}

BOOST_AUTO_TEST_CASE(cancel_after_ends_every_operation_that_takes_too_long) {
    with_server([](redis_server& server, asio::any_io_executor executor) -> task {
        auto settings = holdfast::parse_url(server.url());
        settings.shutdown_timeout = 500ms;
        client c{executor, settings};
        auto l = c.lock("a");
        auto held = co_await l.acquire();
        auto const soon = asio::cancel_after(50ms, as_result);
        auto const check_aborted = [](auto const& results) {
            auto const ec = std::get<0>(results);
            BOOST_TEST((ec == asio::error::operation_aborted), ec.message());
        };
        check_aborted(co_await l.acquire(soon));
        check_aborted(co_await l.try_acquire_for(1h, soon));
        check_aborted(co_await held.wait_lost(soon));
        BOOST_TEST(held.valid());
        // Now nobody answers.
        server.pause();
        check_aborted(co_await c.lock("b").try_acquire(soon));
        check_aborted(co_await l.inspect(soon));
        check_aborted(co_await c.lock("c").force_release(soon));
        check_aborted(co_await held.renew(soon));
        check_aborted(co_await held.release(soon));
        client unready{executor, settings};
        check_aborted(co_await unready.ready(soon));
        check_aborted(co_await c.shutdown(soon));
        server.resume();
    });
}
