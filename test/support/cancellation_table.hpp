#ifndef HOLDFAST_TEST_SUPPORT_CANCELLATION_TABLE_HPP
#define HOLDFAST_TEST_SUPPORT_CANCELLATION_TABLE_HPP

// What an operation does when it is cancelled: every operation, in every state, with every type.
// The gates of the server hold an operation in the state that is meant. Leases and the fallback are
// an hour: no timer hides what was not woken.

#include "support/gated_server.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <functional>
#include <string>
#include <vector>

namespace holdfast::test {

using asio::cancellation_type;

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

inline std::vector<operation> const all_operations{
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

bool needs_lease(operation op);

inline std::vector<cancellation_type> const all_types{
    cancellation_type::terminal,
    cancellation_type::partial,
    cancellation_type::total,
    cancellation_type::all,
};

/// An operation under way: its signal, and what it completed with.
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

/// One cell of the table: a part of the server, a client, and a lease for the operations that need
/// one.
struct cell {
    cell(redis_server& shared, asio::any_io_executor on, int number, std::string name);

    void check(bool holds, char const* expectation) const;
    task hold(std::string name = "held");

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

    task settle() const { return sleep_for(50ms); }
    asio::awaitable<bool> until(std::function<bool()> holds) const {
        return co_eventually(20s, std::move(holds));
    }
    /// What comes from now on is executed and not answered, or not even executed.
    void close_gate(bool executed);
    void open_gates();
    /// No key, no waiter; no subscription either, once its queue has lingered.
    task nothing_left();

    asio::any_io_executor executor;
    std::string what;
    gated_server server;
    holdfast::client client;
    holdfast::lock lock = client.lock("a");
    holdfast::lease lease;
};

using cell_test = std::function<task(cell&, operation, cancellation_type)>;

/// Runs one test for each pair of them; all cells at once, on one server. Nothing may be left then.
void for_each_cell(
    std::vector<operation> const& operations,
    std::vector<cancellation_type> const& types,
    cell_test const& test
);

/// A call that is pending, and that a signal of any type ends at once while its gate stays closed.
task ends_at_once(cell& c, call& pending, cancellation_type type);

}  // namespace holdfast::test

#endif
