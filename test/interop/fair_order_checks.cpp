// Whose turn it is with a fair lock, and who keeps his place in the queue.

#include "interop/checks.hpp"

#include <algorithm>
#include <numeric>

namespace holdfast::test {

namespace {

asio::awaitable<bool> take_turn(
    lock_actor& who,
    std::size_t number,
    milliseconds hold,
    std::vector<std::size_t>& served
) {
    // Redisson's waiters wait for an hour or for five minutes, and take that from the deadlines of
    // those behind when they get the lock.
    if (number % 4 < 2) {
        co_await who.acquire(long_lease);
    } else {
        co_await who.acquire_renewed();
    }
    served.push_back(number);
    if (hold > 0ms) {
        co_await sleep_for(hold);
    }
    co_return co_await who.release();
}

struct line_up {
    std::vector<lock_actor*> actors;
    std::vector<std::size_t> served{};
    std::vector<std::shared_ptr<outcome<bool>>> turns{};
};

// One after the other, each once the one before is in the queue.
task queue_up(situation& in, line_up& line, milliseconds hold) {
    for (std::size_t i = 0; i < line.actors.size(); ++i) {
        line.turns.push_back(in.start(take_turn(*line.actors[i], i, hold, line.served)));
        auto const is_queued = [&] { return queue_of(in.probe, in.key).size() == i + 1; };
        in.expect(co_await co_eventually(soon, is_queued), "a waiter did not join the queue");
        co_await sleep_for(20ms);
    }
}

task expect_order(situation& in, line_up& line, milliseconds limit) {
    auto const all_served = [&] {
        return std::ranges::all_of(line.turns, [](auto const& one) { return one->done; });
    };
    in.expect(co_await co_eventually(limit, all_served), "not all who waited were served");
    std::vector<std::size_t> order(line.actors.size());
    std::iota(order.begin(), order.end(), 0U);
    in.expect(line.served == order, "they were not served in the order of their arrival");
}

task the_order_of_arrival(situation& in) {
    constexpr int of_each = 8;
    auto& holder = in.usual_actor(in.holds);
    // What outlives a check that fails must not be on its stack.
    auto const line = std::make_shared<line_up>();
    for (int i = 0; i < of_each; ++i) {
        line->actors.push_back(&in.usual_actor(in.holds));
        line->actors.push_back(i % 2 ? &in.usual_actor(in.waits()) : &in.waiter());
    }
    // Both directions together make as many again.
    int const rounds = in_full() ? 25 : 1;
    for (int i = 0; i < rounds && in.failures.empty(); ++i) {
        line->served.clear();
        line->turns.clear();
        co_await holder.acquire(long_lease);
        co_await queue_up(in, *line, 0ms);
        co_await holder.release();
        co_await expect_order(in, *line, 2 * soon);
    }
}

task nobody_loses_his_place_in_long_holds(situation& in) {
    auto& holder = in.usual_actor(in.holds);
    auto const line = std::make_shared<line_up>();
    for (int i = 0; i < 2; ++i) {
        line->actors.push_back(&in.usual_actor(in.waits()));
        line->actors.push_back(&in.usual_actor(in.holds));
    }
    co_await holder.acquire_renewed();
    co_await queue_up(in, *line, 700ms);
    auto const queue = queue_of(in.probe, in.key);
    // Three times as long as a silent waiter of ours is waited for.
    for (auto const end = steady_clock::now() + 6s; steady_clock::now() < end;) {
        if (!in.expect(queue_of(in.probe, in.key) == queue, "the queue changed in a long hold")) {
            break;
        }
        co_await sleep_for(200ms);
    }
    co_await holder.release();
    co_await expect_order(in, *line, 2 * soon);
}

}  // namespace

std::vector<check> fair_order_checks() {
    return {
        {"the_order_of_arrival", begins::both, &the_order_of_arrival},
        {"nobody_loses_his_place_in_long_holds", begins::both, &nobody_loses_his_place_in_long_holds
        },
    };
}

}  // namespace holdfast::test
