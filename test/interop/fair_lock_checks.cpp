// What a fair lock promises more than a lock: the order of arrival, and that those who are gone do
// not hold the others up.

#include "interop/checks.hpp"
#include "support/child_process.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace holdfast::test {

namespace {

// One who died costs the next one no more than this: 2 s by default, and half a second to look.
constexpr milliseconds longest_delay = 2500ms;
// On a machine that is busy.
constexpr milliseconds late = 2s;

std::int64_t queue_length(situation& in) {
    return in.probe.cmd("LLEN", "redisson_lock_queue:{" + in.key + "}").as_integer();
}

task until_queued(situation& in, std::int64_t count) {
    auto const queued = [&] { return queue_length(in) == count; };
    in.expect(co_await co_eventually(soon, queued), "somebody who waits has no place");
}

// A check that failed may leave it waiting.
using turn_order = std::shared_ptr<std::vector<int>>;

asio::awaitable<bool> take_turn(lock_actor& who, int number, turn_order order) {
    co_await who.acquire(long_lease);
    order->push_back(number);
    co_return co_await who.release();
}

// Each is in the queue before the next one comes.
task wait_in_turns(situation& in, int waiters, milliseconds held) {
    auto const order = std::make_shared<std::vector<int>>();
    auto& holder = in.holder();
    co_await holder.acquire(long_lease);
    std::vector<std::shared_ptr<outcome<bool>>> turns;
    for (int i = 0; i < waiters; ++i) {
        auto& who = in.actor(i % 2 == 0 ? in.waits() : in.holds, in.key);
        turns.push_back(in.start(take_turn(who, i, order)));
        auto queued = until_queued(in, i + 1);
        co_await std::move(queued);
        co_await sleep_for(20ms);
    }
    co_await sleep_for(held);
    in.expect(order->empty(), "somebody was served while the lock was held");
    in.expect(queue_length(in) == waiters, "somebody lost his place");
    co_await holder.release();
    for (auto const& turn : turns) {
        in.expect(co_await in.granted(turn), "one who waited was not served");
    }
    in.expect(std::ranges::is_sorted(*order), "it was not the order of arrival");
}

task order_of_arrival(situation& in) {
    int const rounds = in_full() ? 50 : 2;
    for (int round = 0; round < rounds && in.failures.empty(); ++round) {
        auto one = wait_in_turns(in, 16, 0ms);
        co_await std::move(one);
    }
}

// Redisson's attempts take from the deadlines of those behind, and drop who is late by them.
task a_long_hold_costs_nobody_his_place(situation& in) {
    auto one = wait_in_turns(in, 5, 6s);
    co_await std::move(one);
}

task expect_soon_after_a_release(
    situation& in,
    lock_actor& holder,
    std::shared_ptr<outcome<std::uint64_t>> next
) {
    co_await holder.release();
    auto const released = steady_clock::now();
    if (in.expect(co_await in.granted(next), "the next one was not served")) {
        auto const took = next->at - released;
        in.expect(took < longest_delay + late, "somebody who is gone was waited for");
    }
}

// `holds` is who dies.
task a_killed_waiter_holds_nobody_up(situation& in) {
    // A release by Redisson tells the first one only, whether it is there or not.
    auto& holder = in.actor(party::ours, in.key);
    auto& next = in.waiter();
    co_await holder.acquire(long_lease);
    std::optional<java_peer> java;
    std::optional<child_process> ours;
    std::shared_ptr<outcome<std::uint64_t>> dead;
    if (in.holds == party::java) {
        java.emplace(java_peer_options{.version = in.version, .port = in.server.tcp_port()});
        co_await java->ready();
        in.actors.push_back(in.kind.java(*java, in.key));
        dead = in.start(in.actors.back()->acquire(long_lease));
    } else {
        ours.emplace(std::vector<std::string>{HOLDFAST_TEST_HOLDER, in.server.tcp_url(), in.key});
    }
    auto first = until_queued(in, 1);
    co_await std::move(first);
    auto const waiting = in.start(next.acquire(long_lease));
    auto second = until_queued(in, 2);
    co_await std::move(second);
    co_await sleep_for(300ms);
    if (java) {
        java->kill();
    } else {
        ours->kill();
    }
    co_await sleep_for(200ms);
    auto judged = expect_soon_after_a_release(in, holder, waiting);
    co_await std::move(judged);
    co_await next.release();
}

task who_gives_up_holds_nobody_up(situation& in) {
    auto& holder = in.actor(party::ours, in.key);
    auto& next = in.waiter();
    auto& impatient = in.holder();
    co_await holder.acquire(long_lease);
    auto const gives_up = in.start(impatient.try_acquire_for(700ms));
    auto first = until_queued(in, 1);
    co_await std::move(first);
    auto const waiting = in.start(next.acquire(long_lease));
    auto second = until_queued(in, 2);
    co_await std::move(second);
    in.expect(co_await in.granted(gives_up) && !gives_up->value, "it did not give up");
    auto left = until_queued(in, 1);
    co_await std::move(left);
    auto judged = expect_soon_after_a_release(in, holder, waiting);
    co_await std::move(judged);
    co_await next.release();
}

}  // namespace

std::vector<check> fair_lock_checks() {
    return {
        {"order_of_arrival", begins::both, &order_of_arrival},
        {"a_long_hold_costs_nobody_his_place", begins::both, &a_long_hold_costs_nobody_his_place},
        {"a_killed_waiter_holds_nobody_up", begins::both, &a_killed_waiter_holds_nobody_up},
        {"who_gives_up_holds_nobody_up", begins::both, &who_gives_up_holds_nobody_up},
    };
}

}  // namespace holdfast::test
