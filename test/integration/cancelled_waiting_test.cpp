// Acquisitions that are cancelled while they wait: before, in and after their turn.

#include "support/cancellation_table.hpp"

using namespace holdfast::test;

BOOST_AUTO_TEST_CASE(a_waiter_that_is_cancelled_leaves_nothing_behind) {
    for_each_waiting_cell([](cell& c, operation op, cancellation_type type) -> task {
        call pending;
        co_await c.park(op, pending);
        co_await ends_at_once(c, pending, type);
        c.check(c.client.stats().withdrawals == 0, "has nothing to withdraw");
        c.check(c.client.stats().waiters_now == 0, "waits no more");
        auto const silent = co_await c.until([&] { return c.server.subscriptions() == 0; });
        c.check(silent, "unsubscribes");
        c.check(c.server.exists("a"), "the other holder keeps the lock");
        c.server.unlock_as_other("a");
    });
}

BOOST_AUTO_TEST_CASE(the_waiters_behind_stay_in_order) {
    for_each_waiting_cell([](cell& c, operation op, cancellation_type type) -> task {
        call first, second, third, fourth;
        co_await c.park(op, first, second, third, fourth);
        // The first, and one in the middle.
        co_await ends_at_once(c, third, type);
        co_await ends_at_once(c, first, type);
        c.check(c.client.stats().waiters_now == 2, "two are left");
        c.server.unlock_as_other("a");
        c.check(co_await c.until([&] { return second.done(); }), "the second one is woken");
        c.check(!fourth.done(), "and only the second one");
        co_await c.served(second, "which gets the lock");
        co_await c.served(fourth, "then the fourth one");
    });
}

BOOST_AUTO_TEST_CASE(a_waiter_is_cancelled_as_its_notification_comes) {
    for_each_waiting_cell([](cell& c, operation op, cancellation_type type) -> task {
        call first, second;
        co_await c.park(op, first, second);
        // The notification and the signal are on their way at the same time, in both orders.
        if (type == cancellation_type::partial) {
            first.signal.emit(type);
            c.server.unlock_as_other("a");
        } else {
            c.server.unlock_as_other("a");
            first.signal.emit(type);
        }
        auto const served = [&] { return first.done() && (second.done() || first.delivered()); };
        c.check(co_await c.until(served), "the wake is not lost");
        if (first.delivered()) {
            c.check(type == cancellation_type::total, "only total alone waits for an attempt");
            first.lease = {};
        } else {
            c.check(first.aborted(), "is aborted");
        }
        co_await c.served(second, "the next waiter is served");
    });
}

BOOST_AUTO_TEST_CASE(a_woken_waiter_is_cancelled_while_it_tries_again) {
    for (bool const executed : {true, false}) {
        for_each_waiting_cell([executed](cell& c, operation op, cancellation_type type) -> task {
            call first, second;
            co_await c.park(op, first, second);
            auto const before = c.server.arrived("lock.acquire");
            c.close_gate(executed);
            c.server.unlock_as_other("a");
            auto const woken =
                co_await c.until([&] { return c.server.arrived("lock.acquire") == before + 1; });
            c.check(woken, "(setup) tries again");
            if (type == cancellation_type::total) {
                first.signal.emit(type);
                co_await c.settle();
                c.check(!first.done(), "total alone waits for the reply");
            } else {
                co_await ends_at_once(c, first, type);
            }
            c.open_gates();
            if (type == cancellation_type::total) {
                co_await c.served(first, "completes with the lease that was granted");
            }
            co_await c.served(second, "the wake is passed on");
        });
    }
}

BOOST_AUTO_TEST_CASE(a_waiter_is_cancelled_while_it_subscribes) {
    for_each_waiting_cell([](cell& c, operation op, cancellation_type type) -> task {
        c.server.lock_as_other("a", 1h);
        c.server.hold_confirmations(true);
        call pending;
        c.start(op, pending);
        auto const asked = [&] {
            return c.client.stats().subscriptions_now >= 1 && c.client.stats().refusals == 1;
        };
        c.check(co_await c.until(asked), "(setup) subscribes");
        co_await ends_at_once(c, pending, type);
        if (type == cancellation_type::partial) {
            // The confirmation comes after the queue was given up.
            co_await c.until([&] { return c.client.stats().subscriptions_now == 0; });
        }
        c.server.hold_confirmations(false);
        co_await c.until([&] { return c.client.stats().subscriptions_now == 0; });
        c.server.unlock_as_other("a");
    });
}

BOOST_AUTO_TEST_CASE(a_later_waiter_counts_on_its_own_confirmation) {
    for_each_waiting_cell([](cell& c, operation op, cancellation_type type) -> task {
        c.server.lock_as_other("a", 1h);
        c.server.hold_confirmations(true);
        call first, second;
        c.start(op, first);
        c.check(
            co_await c.until([&] { return c.client.stats().refusals == 1; }),
            "(setup) refused"
        );
        co_await ends_at_once(c, first, type);
        if (type != cancellation_type::partial) {
            // Its queue is gone: SUBSCRIBE, UNSUBSCRIBE, SUBSCRIBE are on their way.
            co_await c.until([&] { return c.client.stats().subscriptions_now == 0; });
        }
        c.start(op, second);
        c.check(
            co_await c.until([&] { return c.client.stats().refusals == 2; }),
            "(setup) refused too"
        );
        co_await c.settle();
        // Released in the gap: no notification comes, the confirmation makes the waiter look.
        c.server.unlock_as_other("a");
        c.server.hold_confirmations(false);
        co_await c.served(second, "is not left asleep");
    });
}
