// What an operation does when it is cancelled: every operation, in every state, with every type.
// On the stand-in port, whose gates hold an operation in the state that is meant.
//
// Each cell of the table is a coroutine with a server and a client of its own; all cells of a fault
// run at once. Leases and the fallback are an hour: no timer hides what was not woken.

#include "support/fake_client.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio::cancellation_type;
using holdfast::errc;
using holdfast::error_code;
using holdfast::test::co_eventually;
using holdfast::test::fake_server;
using holdfast::test::patient_config;
using holdfast::test::run_with_deadline;
using holdfast::test::sleep_for;

namespace {

enum class operation {
    acquire,
    try_acquire,
    try_acquire_for,
    renew,
    release,
    wait_lost,
    inspect,
    ready,
    shutdown,
};

constexpr operation all_operations[]{
    operation::acquire,
    operation::try_acquire,
    operation::try_acquire_for,
    operation::renew,
    operation::release,
    operation::wait_lost,
    operation::inspect,
    operation::ready,
    operation::shutdown,
};
constexpr operation acquisitions[]{
    operation::acquire,
    operation::try_acquire,
    operation::try_acquire_for,
};
constexpr operation waiting_acquisitions[]{operation::acquire, operation::try_acquire_for};

std::string name_of(operation op) {
    switch (op) {
        case operation::acquire: return "acquire";
        case operation::try_acquire: return "try_acquire";
        case operation::try_acquire_for: return "try_acquire_for";
        case operation::renew: return "renew";
        case operation::release: return "release";
        case operation::wait_lost: return "wait_lost";
        case operation::inspect: return "inspect";
        case operation::ready: return "ready";
        case operation::shutdown: return "shutdown";
    }
    return {};
}

constexpr cancellation_type types[]{
    cancellation_type::terminal,
    cancellation_type::partial,
    cancellation_type::total,
    cancellation_type::all
};

std::string name_of(cancellation_type type) {
    switch (type) {
        case cancellation_type::terminal: return "terminal";
        case cancellation_type::partial: return "partial";
        case cancellation_type::total: return "total";
        default: return "all types";
    }
}

// An operation under way: its signal, and what it completed with.
struct call {
    asio::cancellation_signal signal;
    int completions = 0;
    error_code ec;
    holdfast::lease lease;

    bool done() const { return completions != 0; }
    bool aborted() const {
        return completions == 1 && ec == asio::error::operation_aborted && !lease;
    }
    bool delivered() const { return completions == 1 && !ec && lease.valid(); }
};

// A server, a client and a lease for the operations that need one.
struct cell {
    cell(asio::any_io_executor on, std::string name)
        : executor{std::move(on)},
          what{std::move(name)},
          client{server->make_client(executor, patient_config())} {}

    void check(bool holds, char const* expectation) const {
        BOOST_CHECK_MESSAGE(holds, what << ": " << expectation);
    }

    asio::awaitable<void> hold(std::string name = "held") {
        auto acquire = client.lock(name).acquire(asio::deferred);
        lease = co_await std::move(acquire)(asio::use_awaitable);
    }

    template <class Executor>
    void start(operation op, call& c, Executor on) {
        auto const with = [&](auto handler) {
            return asio::bind_cancellation_slot(c.signal.slot(), asio::bind_executor(on, handler));
        };
        auto const granted = with([&c](error_code ec, holdfast::lease l) {
            ++c.completions;
            c.ec = ec;
            c.lease = std::move(l);
        });
        auto const plain = with([&c](error_code ec, auto&&...) {
            ++c.completions;
            c.ec = ec;
        });
        switch (op) {
            case operation::acquire: lock.acquire(granted); break;
            case operation::try_acquire: lock.try_acquire(granted); break;
            case operation::try_acquire_for: lock.try_acquire_for(1h, granted); break;
            case operation::renew: lease.renew(plain); break;
            case operation::release: lease.release(plain); break;
            case operation::wait_lost: lease.wait_lost(plain); break;
            case operation::inspect: lock.inspect(plain); break;
            case operation::ready: client.ready(plain); break;
            case operation::shutdown: client.shutdown(plain); break;
        }
        check(!c.done(), "does not complete inside the initiating call");
    }
    void start(operation op, call& c) { start(op, c, executor); }

    asio::awaitable<void> settle() const { return sleep_for(20ms); }

    asio::awaitable<bool> until(std::function<bool()> holds) const {
        return co_eventually(20s, std::move(holds));
    }

    // The state in which a waiter sleeps until a notice comes.
    asio::awaitable<void> waits(std::uint64_t waiters) {
        auto const asleep = [this, waiters] {
            auto const now = client.stats();
            return now.waiters_now == waiters && now.refusals >= 2 && server->subscriptions() == 1;
        };
        auto const reached = co_await until(asleep);
        check(reached, "(setup) waits for a notice");
        co_await settle();
    }

    // Nothing is left: no key, no waiter, no subscription; the last after the room has lingered.
    asio::awaitable<void> nothing_left() {
        auto const clean = [this] {
            auto const now = client.stats();
            return now.waiters_now == 0 && now.subscriptions_now == 0 && now.leases_now == 0 &&
                   server->subscriptions() == 0 && server->lock_keys().empty();
        };
        auto const is_clean = co_await until(clean);
        check(is_clean, "leaves nothing behind");
        if (!is_clean) {
            auto const now = client.stats();
            BOOST_TEST_MESSAGE(
                what << ": waiters " << now.waiters_now << ", subscriptions "
                     << now.subscriptions_now << " (server: " << server->subscriptions()
                     << "), leases " << now.leases_now << ", keys " << server->lock_keys().size()
            );
        }
    }

    asio::any_io_executor executor;
    std::string what;
    std::shared_ptr<fake_server> server = fake_server::make();
    holdfast::client client;
    holdfast::lock lock = client.lock("a");
    holdfast::lease lease;
};

using cell_test = std::function<asio::awaitable<void>(cell&, operation, cancellation_type)>;

asio::awaitable<void> run_cell(
    asio::any_io_executor executor,
    cell_test const& test,
    operation op,
    cancellation_type type,
    int& left
) {
    cell c{executor, name_of(op) + ", " + name_of(type)};
    try {
        co_await test(c, op, type);
    } catch (std::exception const& e) {
        BOOST_ERROR(c.what << ": " << e.what());
    }
    --left;
}

// Runs one test for the operations × all types, all cells at once.
template <class Operations>
void for_each_cell(Operations const& operations, cell_test const& test) {
    run_with_deadline(
        [&](asio::any_io_executor executor) -> asio::awaitable<void> {
            int left = 0;
            for (auto const op : operations) {
                for (auto const type : types) {
                    ++left;
                    asio::co_spawn(
                        executor,
                        run_cell(executor, test, op, type, left),
                        asio::detached
                    );
                }
            }
            BOOST_TEST(co_await co_eventually(60s, [&] { return left == 0; }));
        },
        60s
    );
}

template <class... Op>
std::vector<operation> ops(Op... op) {
    return {op...};
}

bool needs_lease(operation op) {
    return op == operation::renew || op == operation::release || op == operation::wait_lost;
}

// A call that is pending, and that a signal of any type ends at once while its gate stays closed.
asio::awaitable<void> ends_at_once(cell& c, call& pending, cancellation_type type) {
    co_await c.settle();
    c.check(!pending.done(), "(setup) is pending");
    pending.signal.emit(type);
    auto const done = co_await c.until([&] { return pending.done(); });
    c.check(done && pending.aborted(), "completes at once with operation_aborted");
}

}  // namespace

BOOST_AUTO_TEST_CASE(fault_74_cancelled_before_initiation_sends_nothing) {
    for_each_cell(
        all_operations,
        [](cell& c, operation op, cancellation_type type) -> asio::awaitable<void> {
            co_await c.hold();
            auto const before = c.server->arrived();
            auto const attempts = c.client.stats().attempts;
            asio::cancellation_signal signal;
            bool ended = false;
            error_code ec;
            auto body = [&]() -> asio::awaitable<void> {
                co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation()
                );
                co_await asio::this_coro::throw_if_cancelled(false);
                co_await c.settle();  // the signal comes here
                co_await asio::this_coro::throw_if_cancelled(true);
                auto const go = [&](auto operation) -> asio::awaitable<void> {
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
            c.check(c.server->arrived() == before, "sends nothing");
            c.check(c.client.stats().attempts == attempts, "does not even try");
            c.check(c.lease.valid(), "leaves the lease as it was");
            auto release = c.lease.release(asio::deferred);
            co_await std::move(release)(asio::use_awaitable);
            co_await c.nothing_left();
        }
    );
}

BOOST_AUTO_TEST_CASE(fault_75_cancelled_without_a_connection) {
    auto const pending =
        ops(operation::acquire,
            operation::try_acquire,
            operation::try_acquire_for,
            operation::inspect,
            operation::ready,
            operation::wait_lost,
            operation::release,
            operation::shutdown);
    for_each_cell(
        pending,
        [](cell& c, operation op, cancellation_type type) -> asio::awaitable<void> {
            if (needs_lease(op) || op == operation::shutdown) {
                co_await c.hold();
            }
            c.server->set_up(false);
            co_await c.settle();
            auto const before = c.server->arrived();
            call started;
            c.start(op, started);
            co_await ends_at_once(c, started, type);
            c.check(c.server->arrived() == before, "sends nothing");
            c.check(c.client.stats().waiters_now == 0, "waits no more");
            c.server->set_up(true);
            if (op == operation::wait_lost) {
                c.check(c.lease.valid(), "only watched");
                c.lease = {};
            }
            co_await c.nothing_left();
        }
    );
}

BOOST_AUTO_TEST_CASE(fault_76_cancelled_with_an_attempt_in_flight) {
    // Half of the attempts are executed before the signal, half of them after it.
    for (bool const executed : {true, false}) {
        for_each_cell(
            acquisitions,
            [executed](cell& c, operation op, cancellation_type type) -> asio::awaitable<void> {
                if (type == cancellation_type::total) {
                    co_return;  // 83
                }
                c.server->hold_replies(executed);
                c.server->hold_requests(!executed);
                call pending;
                c.start(op, pending);
                auto const arrived =
                    co_await c.until([&] { return c.server->arrived("acquire") == 1; });
                c.check(arrived, "(setup) the attempt has arrived");
                c.check(c.server->exists("a") == executed, "(setup) it is executed, or not");
                co_await ends_at_once(c, pending, type);
                c.check(c.client.stats().withdrawals == 1, "is withdrawn");
                c.server->hold_replies(false);
                c.server->hold_requests(false);
                co_await c.nothing_left();
                c.check(pending.completions == 1, "completes once");
            }
        );
    }
}

BOOST_AUTO_TEST_CASE(fault_76_a_refused_attempt_in_flight_leaves_the_other_holder_alone) {
    for_each_cell(
        acquisitions,
        [](cell& c, operation op, cancellation_type type) -> asio::awaitable<void> {
            if (type == cancellation_type::total) {
                co_return;  // 83
            }
            c.server->lock_as_other("a", 1h);
            c.server->hold_replies(true);
            call started;
            c.start(op, started);
            co_await ends_at_once(c, started, type);
            c.server->hold_replies(false);
            co_await c.settle();
            c.check(c.server->exists("a"), "the other holder keeps the lock");
            c.server->unlock_as_other("a");
            co_await c.nothing_left();
        }
    );
}

BOOST_AUTO_TEST_CASE(fault_76_the_wake_passes_on_when_an_attempt_is_left_behind) {
    for_each_cell(
        waiting_acquisitions,
        [](cell& c, operation op, cancellation_type type) -> asio::awaitable<void> {
            if (type == cancellation_type::total) {
                co_return;  // 83
            }
            c.server->hold_replies(true);
            call first, second;
            c.start(op, first);
            c.start(op, second);
            co_await ends_at_once(c, first, type);
            c.server->hold_replies(false);
            auto const done = co_await c.until([&] { return second.done(); });
            c.check(done && second.delivered(), "the next waiter gets the lock");
            second.lease = {};
            co_await c.nothing_left();
        }
    );
}

BOOST_AUTO_TEST_CASE(fault_76_other_operations_in_flight_end_at_once) {
    for_each_cell(
        ops(operation::inspect, operation::shutdown),
        [](cell& c, operation op, cancellation_type type) -> asio::awaitable<void> {
            co_await c.hold();
            c.server->hold_replies(true);
            call started;
            c.start(op, started);
            co_await ends_at_once(c, started, type);
            c.server->hold_replies(false);
            if (op == operation::inspect) {
                c.check(c.lease.valid(), "only looked");
                c.lease = {};
            } else {
                c.check(
                    c.lease.loss() == holdfast::loss_reason::client_stopped,
                    "the shutdown goes on"
                );
                call again;
                c.start(operation::shutdown, again);
                auto const done = co_await c.until([&] { return again.done(); });
                c.check(done && !again.ec, "a later call tells how it ended");
            }
            co_await c.nothing_left();
        }
    );
}

BOOST_AUTO_TEST_CASE(fault_77_a_decided_result_is_delivered_despite_cancellation) {
    auto const decided =
        ops(operation::acquire,
            operation::try_acquire,
            operation::try_acquire_for,
            operation::renew,
            operation::release,
            operation::inspect,
            operation::ready,
            operation::shutdown,
            operation::wait_lost);
    for_each_cell(
        decided,
        [](cell& c, operation op, cancellation_type type) -> asio::awaitable<void> {
            if (needs_lease(op)) {
                co_await c.hold();
            }
            // The handler's executor runs nothing before the signal has been emitted.
            asio::io_context later;
            call pending;
            c.start(op, pending, later.get_executor());
            if (op == operation::wait_lost) {
                c.server->del("held");
                call renewal;
                c.start(operation::renew, renewal);
                co_await c.until([&] { return renewal.done(); });
            }
            auto const decided_now = [&] {
                switch (op) {
                    case operation::renew: return c.client.stats().renewals == 1;
                    case operation::release: return c.client.stats().releases == 1;
                    case operation::inspect: return c.server->executed("inspect") == 1;
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

BOOST_AUTO_TEST_CASE(fault_78_cancelled_while_waiting_for_a_notice) {
    for_each_cell(
        waiting_acquisitions,
        [](cell& c, operation op, cancellation_type type) -> asio::awaitable<void> {
            c.server->lock_as_other("a", 1h);
            call pending;
            c.start(op, pending);
            co_await c.waits(1);
            co_await ends_at_once(c, pending, type);
            c.check(c.client.stats().withdrawals == 0, "has nothing to withdraw");
            c.check(c.client.stats().waiters_now == 0, "waits no more");
            auto const silent = co_await c.until([&] { return c.server->subscriptions() == 0; });
            c.check(silent, "unsubscribes");
            c.check(c.server->exists("a"), "the other holder keeps the lock");
            c.server->unlock_as_other("a");
            co_await c.nothing_left();
        }
    );
}

BOOST_AUTO_TEST_CASE(fault_78_the_waiters_behind_stay_in_order) {
    for_each_cell(
        waiting_acquisitions,
        [](cell& c, operation op, cancellation_type type) -> asio::awaitable<void> {
            c.server->lock_as_other("a", 1h);
            call first, second, third, fourth;
            for (auto* const one : {&first, &second, &third, &fourth}) {
                c.start(op, *one);
            }
            co_await c.waits(4);
            // The first, and one in the middle.
            co_await ends_at_once(c, third, type);
            co_await ends_at_once(c, first, type);
            c.check(c.client.stats().waiters_now == 2, "two are left");
            c.server->unlock_as_other("a");
            c.check(co_await c.until([&] { return second.done(); }), "the second one is woken");
            c.check(second.delivered() && !fourth.done(), "and only the second one");
            second.lease = {};
            c.check(co_await c.until([&] { return fourth.done(); }), "then the fourth one");
            c.check(fourth.delivered(), "which gets the lock");
            fourth.lease = {};
            co_await c.nothing_left();
        }
    );
}

BOOST_AUTO_TEST_CASE(fault_78_cancelled_in_the_turn_of_the_notice) {
    for_each_cell(
        waiting_acquisitions,
        [](cell& c, operation op, cancellation_type type) -> asio::awaitable<void> {
            c.server->lock_as_other("a", 1h);
            call first, second;
            c.start(op, first);
            c.start(op, second);
            co_await c.waits(2);
            // The notice and the signal are on their way at the same time, in both orders.
            if (type == cancellation_type::partial) {
                first.signal.emit(type);
                c.server->unlock_as_other("a");
            } else {
                c.server->unlock_as_other("a");
                first.signal.emit(type);
            }
            auto const served = [&] {
                return first.done() && (second.done() || first.delivered());
            };
            c.check(co_await c.until(served), "the wake is not lost");
            if (first.delivered()) {
                c.check(type == cancellation_type::total, "only total alone waits for an attempt");
                first.lease = {};
            } else {
                c.check(first.aborted(), "is aborted");
            }
            c.check(co_await c.until([&] { return second.done(); }), "the next waiter is served");
            c.check(second.delivered(), "with the lock");
            second.lease = {};
            co_await c.nothing_left();
        }
    );
}

BOOST_AUTO_TEST_CASE(fault_79_cancelled_while_woken_and_retrying) {
    for (bool const executed : {true, false}) {
        for_each_cell(
            waiting_acquisitions,
            [executed](cell& c, operation op, cancellation_type type) -> asio::awaitable<void> {
                c.server->lock_as_other("a", 1h);
                call first, second;
                c.start(op, first);
                c.start(op, second);
                co_await c.waits(2);
                auto const before = c.server->arrived("acquire");
                c.server->hold_replies(executed);
                c.server->hold_requests(!executed);
                c.server->unlock_as_other("a");
                auto const woken =
                    co_await c.until([&] { return c.server->arrived("acquire") == before + 1; });
                c.check(woken, "(setup) tries again");
                if (type == cancellation_type::total) {
                    first.signal.emit(type);
                    co_await c.settle();
                    c.check(!first.done(), "total alone waits for the reply");
                } else {
                    co_await ends_at_once(c, first, type);
                }
                c.server->hold_replies(false);
                c.server->hold_requests(false);
                if (type == cancellation_type::total) {
                    c.check(co_await c.until([&] { return first.done(); }), "completes");
                    c.check(first.delivered(), "with the lease that was granted");
                    first.lease = {};
                }
                c.check(co_await c.until([&] { return second.done(); }), "the wake is passed on");
                c.check(second.delivered(), "and the next waiter gets the lock");
                second.lease = {};
                co_await c.nothing_left();
            }
        );
    }
}

BOOST_AUTO_TEST_CASE(fault_80_cancelled_during_subscribe) {
    for_each_cell(
        waiting_acquisitions,
        [](cell& c, operation op, cancellation_type type) -> asio::awaitable<void> {
            c.server->lock_as_other("a", 1h);
            c.server->hold_confirmations(true);
            call pending;
            c.start(op, pending);
            auto const asked = [&] {
                return c.client.stats().subscriptions_now == 1 && c.client.stats().refusals == 1;
            };
            c.check(co_await c.until(asked), "(setup) subscribes");
            co_await ends_at_once(c, pending, type);
            if (type == cancellation_type::partial) {
                // The confirmation comes after the room was given up.
                co_await c.until([&] { return c.client.stats().subscriptions_now == 0; });
            }
            c.server->hold_confirmations(false);
            co_await c.until([&] { return c.client.stats().subscriptions_now == 0; });
            c.server->unlock_as_other("a");
            co_await c.nothing_left();
        }
    );
}

BOOST_AUTO_TEST_CASE(fault_80_a_later_waiter_counts_on_its_own_confirmation) {
    for_each_cell(
        waiting_acquisitions,
        [](cell& c, operation op, cancellation_type type) -> asio::awaitable<void> {
            c.server->lock_as_other("a", 1h);
            c.server->hold_confirmations(true);
            call first, second;
            c.start(op, first);
            c.check(
                co_await c.until([&] { return c.client.stats().refusals == 1; }),
                "(setup) refused"
            );
            co_await ends_at_once(c, first, type);
            if (type != cancellation_type::partial) {
                // Its room is gone: SUBSCRIBE, UNSUBSCRIBE, SUBSCRIBE are on their way.
                co_await c.until([&] { return c.client.stats().subscriptions_now == 0; });
            }
            c.start(op, second);
            c.check(
                co_await c.until([&] { return c.client.stats().refusals == 2; }),
                "(setup) refused too"
            );
            co_await c.settle();
            // Released in the gap: no notice comes, the confirmation makes the waiter look.
            c.server->unlock_as_other("a");
            c.server->hold_confirmations(false);
            c.check(co_await c.until([&] { return second.done(); }), "is not left asleep");
            c.check(second.delivered(), "gets the lock");
            second.lease = {};
            co_await c.nothing_left();
        }
    );
}

BOOST_AUTO_TEST_CASE(fault_81_cancelled_during_release) {
    for (bool const executed : {true, false}) {
        for_each_cell(
            ops(operation::release),
            [executed](cell& c, operation op, cancellation_type type) -> asio::awaitable<void> {
                co_await c.hold();
                c.server->hold_replies(executed);
                c.server->hold_requests(!executed);
                auto const renewals = c.server->arrived("renew");
                call pending;
                c.start(op, pending);
                c.check(!c.lease, "the lease is empty as the release starts");
                co_await ends_at_once(c, pending, type);
                c.server->hold_replies(false);
                c.server->hold_requests(false);
                co_await c.nothing_left();
                auto const told = co_await c.until([&] { return c.client.stats().releases == 1; });
                c.check(told, "the release goes on");
                c.check(c.server->arrived("renew") == renewals, "nothing is renewed any more");
            }
        );
    }
}

BOOST_AUTO_TEST_CASE(fault_81_a_cancelled_release_is_repeated_when_its_answer_is_lost) {
    for_each_cell(
        ops(operation::release),
        [](cell& c, operation op, cancellation_type type) -> asio::awaitable<void> {
            co_await c.hold();
            c.server->hold_requests(true);
            call started;
            c.start(op, started);
            co_await ends_at_once(c, started, type);
            c.server->set_up(false);  // what was not executed is lost with the connection
            c.server->hold_requests(false);
            c.check(c.server->exists("held"), "(setup) is not released");
            c.server->set_up(true);
            co_await c.nothing_left();
        }
    );
}

BOOST_AUTO_TEST_CASE(fault_82_cancelled_during_renewal) {
    for (bool const executed : {true, false}) {
        for_each_cell(
            ops(operation::renew),
            [executed](cell& c, operation op, cancellation_type type) -> asio::awaitable<void> {
                co_await c.hold();
                auto const deadline = c.lease.deadline();
                co_await c.settle();
                c.server->hold_replies(executed);
                c.server->hold_requests(!executed);
                call pending;
                c.start(op, pending);
                co_await ends_at_once(c, pending, type);
                c.check(c.lease.deadline() == deadline, "the old deadline stands");
                c.check(c.lease.valid(), "the lease is still held");
                c.server->hold_replies(false);
                c.server->hold_requests(false);
                co_await c.settle();
                c.check(c.lease.valid(), "and stays so");
                auto const left = std::chrono::milliseconds{c.server->pttl("held")};
                c.check(c.lease.remaining() <= left, "the deadline is never behind the server's");
                c.lease = {};
                co_await c.nothing_left();
            }
        );
    }
}

BOOST_AUTO_TEST_CASE(fault_82_wait_lost_is_cancelled_at_once) {
    for_each_cell(
        ops(operation::wait_lost),
        [](cell& c, operation op, cancellation_type type) -> asio::awaitable<void> {
            co_await c.hold();
            call first, second;
            c.start(op, first);
            c.start(op, second);
            co_await ends_at_once(c, first, type);
            c.check(!second.done(), "others go on watching");
            c.check(c.lease.valid(), "the lease is as it was");
            c.lease = {};
            c.check(co_await c.until([&] { return second.done(); }), "a release ends the watch");
            c.check(second.ec == errc::not_held, "with not_held");
            co_await c.nothing_left();
        }
    );
}

BOOST_AUTO_TEST_CASE(fault_83_total_alone_waits_for_the_reply) {
    for (bool const busy : {true, false}) {
        for (bool const executed : {true, false}) {
            for_each_cell(
                acquisitions,
                [=](cell& c, operation op, cancellation_type type) -> asio::awaitable<void> {
                    if (type != cancellation_type::total) {
                        co_return;
                    }
                    if (busy) {
                        c.server->lock_as_other("a", 1h);
                    }
                    c.server->hold_replies(executed);
                    c.server->hold_requests(!executed);
                    call pending;
                    c.start(op, pending);
                    auto const arrived =
                        co_await c.until([&] { return c.server->arrived("acquire") == 1; });
                    c.check(arrived, "(setup) the attempt has arrived");
                    pending.signal.emit(type);
                    co_await sleep_for(50ms);
                    c.check(!pending.done(), "waits for the reply");
                    c.server->hold_replies(false);
                    c.server->hold_requests(false);
                    c.check(
                        co_await c.until([&] { return pending.done(); }),
                        "completes with the reply"
                    );
                    if (busy) {
                        c.check(pending.aborted(), "refused: operation_aborted");
                        c.check(c.server->exists("a"), "the other holder keeps the lock");
                        c.server->unlock_as_other("a");
                    } else {
                        c.check(pending.delivered(), "granted: the lease is delivered");
                        pending.lease = {};
                    }
                    co_await c.nothing_left();
                }
            );
        }
    }
}

BOOST_AUTO_TEST_CASE(fault_83_total_and_then_terminal_ends_at_once) {
    for_each_cell(
        acquisitions,
        [](cell& c, operation op, cancellation_type type) -> asio::awaitable<void> {
            if (type == cancellation_type::total) {
                co_return;
            }
            c.server->hold_replies(true);
            call pending;
            c.start(op, pending);
            co_await c.settle();
            pending.signal.emit(cancellation_type::total);
            co_await ends_at_once(c, pending, type);
            c.server->hold_replies(false);
            co_await c.nothing_left();
        }
    );
}

BOOST_AUTO_TEST_CASE(fault_83_total_alone_and_no_reply) {
    // The connection breaks: nobody knows, so the attempt is withdrawn on the next one.
    for_each_cell(
        acquisitions,
        [](cell& c, operation op, cancellation_type type) -> asio::awaitable<void> {
            if (type != cancellation_type::total) {
                co_return;
            }
            c.server->hold_replies(true);
            call pending;
            c.start(op, pending);
            co_await c.settle();
            pending.signal.emit(type);
            co_await c.settle();
            c.check(!pending.done(), "(setup) waits for the reply");
            c.check(c.server->exists("a"), "(setup) was granted");
            c.server->set_up(false);
            c.check(co_await c.until([&] { return pending.done(); }), "completes");
            c.check(pending.aborted(), "with operation_aborted");
            c.server->hold_replies(false);
            c.server->set_up(true);
            co_await c.nothing_left();
        }
    );
}

BOOST_AUTO_TEST_CASE(fault_84_a_grant_races_the_callers_timer) {
    using namespace asio::experimental::awaitable_operators;
    run_with_deadline(
        [](asio::any_io_executor executor) -> asio::awaitable<void> {
            constexpr int races = 2'000;
            auto const server = fake_server::make();
            auto client = server->make_client(executor, patient_config());
            auto const lock = client.lock("a");
            std::minstd_rand random{84};
            int granted = 0;
            int timed_out = 0;
            for (int i = 0; i < races; ++i) {
                asio::steady_timer timer{executor};
                timer.expires_after(std::chrono::microseconds{random() % 400});
                auto acquire = lock.acquire(asio::use_awaitable);
                auto wait = timer.async_wait(asio::use_awaitable);
                auto race = std::move(acquire) || std::move(wait);
                auto result = co_await std::move(race);
                if (result.index() == 0) {
                    ++granted;
                    auto lease = std::get<0>(std::move(result));
                    BOOST_TEST(lease.valid());
                    co_await lease.release(asio::use_awaitable);
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
                       server->lock_keys().empty() && server->subscriptions() == 0;
            };
            BOOST_TEST(co_await co_eventually(10s, clean));
        },
        60s
    );
}
