// Waiters for a fair lock who die, or give up, before it is their turn.

#include "interop/checks.hpp"
#include "support/child_process.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

namespace holdfast::test {

namespace {

// One of ours that is gone is waited for for 2 s; the rest is for a busy machine.
constexpr milliseconds of_ours = 4s;

// One of Java's is gone if it does not listen for that long, which is looked at each 500 ms.
constexpr milliseconds of_java = 7s;

// Frees the lock, and looks how long the waiter behind somebody who has gone is held up.
task expect_next(
    situation& in,
    lock_actor& holder,
    lock_actor& next,
    std::shared_ptr<outcome<std::uint64_t>> waiting,
    milliseconds limit
) {
    in.expect(!waiting->done, "the lock was granted before it was free");
    auto const freed = steady_clock::now();
    co_await holder.release();
    if (in.expect(co_await in.granted(waiting, 2 * soon), "the next one got nothing")) {
        in.expect(waiting->at - freed < limit, "the next one was held up for too long");
        co_await next.release();
    }
}

task a_killed_waiter_of_ours_does_not_hold_up_the_next(situation& in) {
    auto& holder = in.usual_actor(in.holds);
    auto& next = in.usual_actor(in.waits());
    co_await holder.acquire(long_lease);
    std::vector<std::string> words{HOLDFAST_TEST_HOLDER, in.server.tcp_url(), in.key, "fair"};
    child_process victim{words};
    co_await in.until_queued(1);
    auto const waiting = in.start(next.acquire_renewed());
    co_await in.until_queued(2);
    // For longer than ours is waited for: the next one must not rely on what it was told first.
    co_await sleep_for(3s);
    victim.kill();
    co_await expect_next(in, holder, next, waiting, of_ours);
}

task a_killed_waiter_of_javas_does_not_hold_up_ours(situation& in) {
    auto& holder = in.usual_actor(in.holds);
    auto& next = in.usual_actor(party::ours);
    java_peer victim{{.version = in.version, .port = in.server.tcp_port()}};
    co_await victim.ready();
    auto const dead = in.kind.java(victim, in.key);
    co_await holder.acquire(long_lease);
    auto const lost = in.start(dead->acquire_renewed());
    co_await in.until_queued(1);
    auto const waiting = in.start(next.acquire_renewed());
    co_await in.until_queued(2);
    victim.kill();
    co_await expect_next(in, holder, next, waiting, of_java);
    auto const has_ended = [&] { return lost->done; };
    co_await co_eventually(soon, has_ended);
}

task an_interrupted_waiter_of_javas_does_not_hold_up_ours(situation& in) {
    auto& holder = in.usual_actor(in.holds);
    auto& next = in.usual_actor(party::ours);
    co_await holder.acquire(long_lease);
    auto const words = in.kind.name + ".lockInterrupted " + in.key + " 3000";
    auto const interrupted = in.start(in.java.tell(in.java.new_thread(), words));
    co_await in.until_queued(1);
    auto const waiting = in.start(next.acquire_renewed());
    co_await in.until_queued(2);
    auto const has_ended = [&] { return interrupted->done; };
    in.expect(co_await co_eventually(soon, has_ended), "a waiter was not interrupted");
    in.expect(interrupted->value == "false", "the lock was granted before it was free");
    co_await expect_next(in, holder, next, waiting, of_java);
}

task a_cancelled_waiter_of_ours_leaves_at_once(situation& in) {
    auto& holder = in.usual_actor(in.holds);
    auto& next = in.usual_actor(party::java);
    co_await holder.acquire(long_lease);
    asio::cancellation_signal cancel;
    auto const lock = in.usual.fair_lock(in.key);
    auto const end = std::make_shared<error_code>();
    lock.acquire(asio::bind_cancellation_slot(cancel.slot(), [end](error_code ec, lease) {
        *end = ec;
    }));
    co_await in.until_queued(1);
    auto const waiting = in.start(next.acquire_renewed());
    co_await in.until_queued(2);
    cancel.emit(asio::cancellation_type::terminal);
    auto const has_left = [&] { return queue_of(in.probe, in.key).size() == 1; };
    in.expect(co_await co_eventually(1500ms, has_left), "who gave up is still in the queue");
    auto const has_ended = [&] { return *end == asio::error::operation_aborted; };
    in.expect(co_await co_eventually(soon, has_ended), "the attempt was not cancelled");
    co_await expect_next(in, holder, next, waiting, of_ours);
}

// On a server of its own: its statistics count what all do.
task waiting_costs_few_scripts(situation& in) {
    redis_server alone{{.tcp = true}};
    auto probe = alone.probe();
    client ours{in.executor, alone.tcp_url()};
    java_peer java{{.version = in.version, .port = alone.tcp_port(), .watchdog = renewed_lease}};
    co_await java.ready();
    auto const holder =
        in.holds == party::ours ? in.kind.ours(ours, in.key) : in.kind.java(java, in.key);
    auto const first = in.kind.java(java, in.key);
    auto const second = in.kind.ours(ours, in.key);
    co_await holder->acquire_renewed();
    auto const before = probe.lock_commands();
    auto const of_first = in.start(first->acquire_renewed());
    auto const of_second = in.start(second->acquire_renewed());
    co_await sleep_for(3s);
    auto const ran = probe.lock_commands() - before;
    in.expect(ran <= 60, std::to_string(ran) + " scripts and subscriptions in 3 s");
    co_await holder->release();
    auto const one_has_it = [&] { return of_first->done || of_second->done; };
    in.expect(co_await co_eventually(soon, one_has_it), "the release woke nobody");
    co_await (of_first->done ? *first : *second).release();
    auto const both_had_it = [&] { return of_first->done && of_second->done; };
    in.expect(co_await co_eventually(soon, both_had_it), "the second release woke nobody");
    java.kill();
    co_await ours.shutdown();
}

}  // namespace

std::vector<check> fair_absence_checks() {
    return {
        {"a_killed_waiter_of_ours_does_not_hold_up_the_next",
         begins::both,
         &a_killed_waiter_of_ours_does_not_hold_up_the_next},
        {"a_killed_waiter_of_javas_does_not_hold_up_ours",
         begins::both,
         &a_killed_waiter_of_javas_does_not_hold_up_ours},
        {"an_interrupted_waiter_of_javas_does_not_hold_up_ours",
         begins::both,
         &an_interrupted_waiter_of_javas_does_not_hold_up_ours},
        {"a_cancelled_waiter_of_ours_leaves_at_once",
         begins::both,
         &a_cancelled_waiter_of_ours_leaves_at_once},
        {"waiting_costs_few_scripts", begins::both, &waiting_costs_few_scripts},
    };
}

}  // namespace holdfast::test
