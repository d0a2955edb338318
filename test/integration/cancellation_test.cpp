// Operations that are cancelled before they start, without a connection, in flight, and after their
// result was decided.

#include "support/cancellation_table.hpp"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>

#include <utility>

using namespace holdfast::test;

BOOST_AUTO_TEST_CASE(an_operation_that_is_cancelled_before_it_starts_sends_nothing) {
    for_each_cell(
        all_operations,
        all_types,
        [](cell& c, operation op, cancellation_type type) -> task {
            co_await c.hold();
            auto const before = c.server.arrived();
            auto const attempts = c.client.stats().attempts;
            asio::cancellation_signal signal;
            bool ended = false;
            error_code ec;
            auto body = [&]() -> task {
                co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation()
                );
                co_await asio::this_coro::throw_if_cancelled(false);
                co_await c.settle();  // the signal comes here
                co_await asio::this_coro::throw_if_cancelled(true);
                auto const go = [&](auto operation) -> task {
                    static_cast<void>(co_await std::move(operation)(asio::use_awaitable));
                };
                switch (op) {
                    case operation::acquire: co_await go(c.lock.acquire(asio::deferred)); break;
                    case operation::try_acquire:
                        co_await go(c.lock.try_acquire(asio::deferred));
                        break;
                    case operation::try_acquire_for:
                        co_await go(c.lock.try_acquire_for(1h, asio::deferred));
                        break;
                    case operation::renew: co_await go(c.lease.renew(asio::deferred)); break;
                    case operation::release: co_await go(c.lease.release(asio::deferred)); break;
                    case operation::wait_lost:
                        co_await go(c.lease.wait_lost(asio::deferred));
                        break;
                    case operation::inspect: co_await go(c.lock.inspect(asio::deferred)); break;
                    case operation::ready: co_await go(c.client.ready(asio::deferred)); break;
                    case operation::shutdown: co_await go(c.client.shutdown(asio::deferred)); break;
                }
            };
            auto const note = [&](std::exception_ptr thrown) {
                ended = true;
                try {
                    if (thrown) {
                        std::rethrow_exception(thrown);
                    }
                } catch (boost::system::system_error const& e) {
                    ec = e.code();
                }
            };
            asio::co_spawn(c.executor, body, asio::bind_cancellation_slot(signal.slot(), note));
            co_await sleep_for(5ms);
            signal.emit(type);
            auto const done = co_await c.until([&] { return ended; });
            c.check(done && ec == asio::error::operation_aborted, "ends with operation_aborted");
            co_await c.settle();
            c.check(c.server.arrived() == before, "sends nothing");
            c.check(c.client.stats().attempts == attempts, "does not even try");
            c.check(c.lease.valid(), "leaves the lease as it was");
            auto release = c.lease.release(asio::deferred);
            co_await std::move(release)(asio::use_awaitable);
        }
    );
}

BOOST_AUTO_TEST_CASE(operations_without_a_connection_end_at_once) {
    std::vector<operation> const pending{
        operation::acquire,
        operation::try_acquire,
        operation::try_acquire_for,
        operation::inspect,
        operation::ready,
        operation::wait_lost,
        operation::release,
        operation::shutdown
    };
    for_each_cell(pending, all_types, [](cell& c, operation op, cancellation_type type) -> task {
        co_await c.hold();
        c.server.set_up(false);
        auto const doubted = [&] { return c.lease.state() == lease_state::in_doubt; };
        c.check(co_await c.until(doubted), "(setup) the client knows that it is down");
        auto const before = c.server.arrived();
        call started;
        c.start(op, started);
        co_await ends_at_once(c, started, type);
        c.check(c.server.arrived() == before, "sends nothing");
        c.check(c.client.stats().waiters_now == 0, "waits no more");
        c.server.set_up(true);
        if (op == operation::wait_lost) {
            c.check(c.lease.valid(), "only watched");
        }
        c.lease = {};
    });
}

BOOST_AUTO_TEST_CASE(other_operations_in_flight_end_at_once) {
    for_each_cell(
        {operation::inspect, operation::shutdown},
        all_types,
        [](cell& c, operation op, cancellation_type type) -> task {
            co_await c.hold();
            c.server.hold_replies(true);
            call started;
            c.start(op, started);
            co_await ends_at_once(c, started, type);
            c.server.hold_replies(false);
            if (op == operation::inspect) {
                c.check(c.lease.valid(), "only looked");
                c.lease = {};
            } else {
                c.check(c.lease.loss() == loss_reason::client_stopped, "the shutdown goes on");
                call again;
                c.start(operation::shutdown, again);
                auto const done = co_await c.until([&] { return again.done(); });
                c.check(done && !again.ec, "a later call tells how it ended");
            }
        }
    );
}

BOOST_AUTO_TEST_CASE(a_decided_result_is_delivered_despite_cancellation) {
    for_each_cell(
        all_operations,
        all_types,
        [](cell& c, operation op, cancellation_type type) -> task {
            if (needs_lease(op)) {
                co_await c.hold();
            }
            // The handler's executor runs nothing before the signal has been emitted.
            asio::io_context later;
            call pending;
            c.start(op, pending, later.get_executor());
            if (op == operation::wait_lost) {
                c.server.del("held");
                call renewal;
                c.start(operation::renew, renewal);
                co_await c.until([&] { return renewal.done(); });
            }
            auto const decided_now = [&] {
                switch (op) {
                    case operation::renew: return c.client.stats().renewals == 1;
                    case operation::release: return c.client.stats().releases == 1;
                    case operation::inspect: return c.server.arrived("lock.inspect") == 1;
                    case operation::ready:
                    case operation::shutdown: return true;
                    case operation::wait_lost: return !c.lease.valid();
                    default: return c.client.stats().grants == 1;
                }
            };
            c.check(co_await c.until(decided_now), "(setup) is decided");
            co_await c.settle();
            pending.signal.emit(type);
            co_await c.settle();
            later.poll();
            c.check(pending.completions == 1 && !pending.ec, "reports success");
            if (op <= operation::try_acquire_for) {
                c.check(pending.delivered(), "delivers the lease");
            }
            pending.lease = {};
            c.lease = {};
            co_await c.nothing_left();
            later.poll();  // the end of the renewal, which ran there
        }
    );
}

BOOST_AUTO_TEST_CASE(a_cancelled_release_goes_on) {
    for (bool const executed : {true, false}) {
        for_each_cell(
            {operation::release},
            all_types,
            [executed](cell& c, operation op, cancellation_type type) -> task {
                co_await c.hold();
                c.close_gate(executed);
                auto const renewals = c.server.arrived("lock.renew");
                call pending;
                c.start(op, pending);
                c.check(!c.lease, "the lease is empty as the release starts");
                co_await ends_at_once(c, pending, type);
                c.open_gates();
                co_await c.nothing_left();
                auto const told = co_await c.until([&] { return c.client.stats().releases == 1; });
                c.check(told, "the release goes on");
                c.check(c.server.arrived("lock.renew") == renewals, "nothing is renewed any more");
            }
        );
    }
}

BOOST_AUTO_TEST_CASE(a_cancelled_renewal_leaves_the_old_deadline) {
    for (bool const executed : {true, false}) {
        for_each_cell(
            {operation::renew},
            all_types,
            [executed](cell& c, operation op, cancellation_type type) -> task {
                co_await c.hold();
                auto const deadline = c.lease.deadline();
                co_await c.settle();
                c.close_gate(executed);
                call pending;
                c.start(op, pending);
                co_await ends_at_once(c, pending, type);
                c.check(c.lease.deadline() == deadline, "the old deadline stands");
                c.check(c.lease.valid(), "the lease is still held");
                c.open_gates();
                co_await c.settle();
                c.check(c.lease.valid(), "and stays so");
                auto const left = std::chrono::milliseconds{c.server.pttl("held")};
                c.check(c.lease.remaining() <= left, "the deadline is never behind the server's");
                c.lease = {};
            }
        );
    }
}
