// Acquisitions that are cancelled while an attempt is under way.

#include "support/cancellation_table.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <random>
#include <utility>
#include <variant>

using namespace holdfast::test;

BOOST_AUTO_TEST_CASE(an_attempt_in_flight_is_left_behind_and_withdrawn) {
    // Half of the attempts are executed before the signal, half of them after it.
    for (bool const executed : {true, false}) {
        for_each_cell(
            acquisitions,
            impatient_types,
            [executed](cell& c, operation op, cancellation_type type) -> task {
                c.close_gate(executed);
                call pending;
                c.start(op, pending);
                co_await c.attempted(executed);
                co_await ends_at_once(c, pending, type);
                c.check(c.client.stats().withdrawals == 1, "is withdrawn");
                c.open_gates();
                co_await c.nothing_left();
                c.check(pending.completions == 1, "completes once");
            }
        );
    }
}

BOOST_AUTO_TEST_CASE(a_refused_attempt_in_flight_leaves_the_other_holder_alone) {
    for_each_cell(
        acquisitions,
        impatient_types,
        [](cell& c, operation op, cancellation_type type) -> task {
            c.server.lock_as_other("a", 1h);
            c.server.hold_replies(true);
            call started;
            c.start(op, started);
            co_await ends_at_once(c, started, type);
            c.server.hold_replies(false);
            co_await c.settle();
            c.check(c.server.exists("a"), "the other holder keeps the lock");
            c.server.unlock_as_other("a");
        }
    );
}

BOOST_AUTO_TEST_CASE(the_wake_passes_on_when_an_attempt_is_left_behind) {
    for_each_cell(
        {operation::acquire, operation::try_acquire_for},
        impatient_types,
        [](cell& c, operation op, cancellation_type type) -> task {
            c.server.hold_replies(true);
            call first, second;
            c.start(op, {&first, &second});
            co_await ends_at_once(c, first, type);
            c.server.hold_replies(false);
            co_await c.served(second, "the next waiter gets the lock");
        }
    );
}

BOOST_AUTO_TEST_CASE(total_alone_waits_for_the_reply) {
    for (bool const busy : {true, false}) {
        for (bool const executed : {true, false}) {
            for_each_cell(
                acquisitions,
                {cancellation_type::total},
                [=](cell& c, operation op, cancellation_type type) -> task {
                    if (busy) {
                        c.server.lock_as_other("a", 1h);
                    }
                    c.close_gate(executed);
                    call pending;
                    c.start(op, pending);
                    co_await c.attempted(executed || busy);
                    pending.signal.emit(type);
                    co_await c.settle();
                    c.check(!pending.done(), "waits for the reply");
                    c.open_gates();
                    c.check(
                        co_await c.until([&] { return pending.done(); }),
                        "completes with the reply"
                    );
                    if (busy) {
                        c.check(pending.aborted(), "refused: operation_aborted");
                        c.check(c.server.exists("a"), "the other holder keeps the lock");
                        c.server.unlock_as_other("a");
                    } else {
                        c.check(pending.delivered(), "granted: the lease is delivered");
                        pending.lease = {};
                    }
                }
            );
        }
    }
}

BOOST_AUTO_TEST_CASE(total_and_then_terminal_ends_at_once) {
    for_each_cell(
        acquisitions,
        impatient_types,
        [](cell& c, operation op, cancellation_type type) -> task {
            c.server.hold_replies(true);
            call pending;
            c.start(op, pending);
            co_await c.settle();
            pending.signal.emit(cancellation_type::total);
            co_await ends_at_once(c, pending, type);
            c.server.hold_replies(false);
        }
    );
}

BOOST_AUTO_TEST_CASE(total_alone_ends_when_no_reply_can_come) {
    // The connection breaks before the reply: the attempt is withdrawn on the next connection.
    for_each_cell(
        acquisitions,
        {cancellation_type::total},
        [](cell& c, operation op, cancellation_type type) -> task {
            c.server.hold_replies(true);
            call pending;
            c.start(op, pending);
            co_await c.settle();
            pending.signal.emit(type);
            co_await c.settle();
            c.check(!pending.done(), "(setup) waits for the reply");
            c.check(co_await c.until([&] { return c.server.exists("a"); }), "(setup) was granted");
            c.server.set_up(false);
            c.check(co_await c.until([&] { return pending.done(); }), "completes");
            c.check(pending.aborted(), "with operation_aborted");
            c.server.hold_replies(false);
            c.server.set_up(true);
        }
    );
}

BOOST_AUTO_TEST_CASE(a_grant_races_the_callers_timer) {
    using namespace asio::experimental::awaitable_operators;
    with_gates([](gated_server& server, holdfast::client& client) -> task {
        constexpr int races = 1'000;
        auto const executor = co_await asio::this_coro::executor;
        auto const lock = client.lock("a");
        std::minstd_rand random{84};
        int granted = 0;
        int timed_out = 0;
        for (int i = 0; i < races; ++i) {
            asio::steady_timer timer{executor};
            timer.expires_after(std::chrono::microseconds{random() % 3'000});
            auto acquire = lock.acquire(asio::use_awaitable);
            auto wait = timer.async_wait(asio::use_awaitable);
            auto race = std::move(acquire) || std::move(wait);
            auto result = co_await std::move(race);
            if (result.index() == 0) {
                ++granted;
                auto lease = std::get<0>(std::move(result));
                BOOST_TEST(lease.valid());
                co_await lease.release();
            } else {
                ++timed_out;
            }
        }
        BOOST_TEST_MESSAGE("granted " << granted << ", timed out " << timed_out);
        BOOST_TEST(granted > 0);
        BOOST_TEST(timed_out > 0);
        auto const clean = [&] {
            auto const now = client.stats();
            return now.waiters_now == 0 && now.leases_now == 0 && now.subscriptions_now == 0 &&
                   server.lock_keys().empty() && server.subscriptions() == 0;
        };
        BOOST_TEST(co_await co_eventually(10s, clean));
    });
}
