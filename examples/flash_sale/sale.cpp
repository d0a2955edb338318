#include "sale.hpp"

#include "buyers.hpp"
#include "holder_kill.hpp"
#include "primary_kill.hpp"
#include "store.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace flash_sale {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

// Without the lock the stock goes up as well as down: on a slow machine the point is made before
// the shelf is empty.
constexpr auto limit_without_lock = 15s;
constexpr auto limit_with_lock = 40s;

void start(
    asio::any_io_executor const& executor,
    std::shared_ptr<sale_floor> const& floor,
    asio::awaitable<void> body
) {
    ++floor->busy;
    asio::co_spawn(executor, std::move(body), [floor](std::exception_ptr failure) {
        --floor->busy;
        if (failure && !floor->failure) {
            floor->failure = failure;
        }
    });
}

void print_progress(
    std::chrono::duration<double> elapsed,
    sale_state const& state,
    sale_floor const& floor
) {
    fmt::print(
        "  {:4.1f} s  in stock {:>4}  sold {:>6}  unanswered {:>3}\n",
        elapsed.count(),
        state.stock,
        state.sold,
        floor.unanswered
    );
    std::fflush(stdout);
}

// Returns how long the sale took.
asio::awaitable<std::chrono::duration<double>> watch(
    store& watched,
    sale_floor& floor,
    bool locked
) {
    auto const opening = steady_clock::now();
    auto next_line = opening + 500ms;
    while (floor.busy > 0) {
        co_await pause_for(5ms);
        if (floor.failure) {
            std::rethrow_exception(floor.failure);
        }
        auto const now = steady_clock::now();
        if (now >= next_line) {
            next_line += 500ms;
            auto const state = co_await watched.look();
            print_progress(now - opening, state, floor);
        }
        if (locked && now > opening + limit_with_lock) {
            throw std::runtime_error{"the sale did not end in time"};
        }
        floor.closed = !locked && now > opening + limit_without_lock;
    }
    co_return steady_clock::now() - opening;
}

asio::awaitable<lock_stats> collect(sale_floor const& floor) {
    auto const executor = co_await asio::this_coro::executor;
    lock_stats result;
    auto const add = [&](lock_stats const& stats) {
        result.waits += stats.waits;
        result.renewals += stats.renewals;
        result.longest_wait = std::max(result.longest_wait, stats.longest_wait);
    };
    for (std::size_t i = 0; i < floor.ports.size(); ++i) {
        if (floor.killed && floor.killed->server == i) {
            add(floor.killed->stats);  // its last words
            continue;
        }
        http_connection server{executor, floor.ports[i]};
        auto const stats = co_await ask_stats(server);
        if (!stats) {
            throw std::runtime_error{fmt::format("server {} has ended", i + 1)};
        }
        add(*stats);
    }
    co_return result;
}

}  // namespace

asio::awaitable<sale_result> hold_sale(
    sale_options const& options,
    std::string_view redis_url,
    bool locked
) {
    auto const executor = co_await asio::this_coro::executor;
    store watched{executor, redis_url};
    co_await watched.open(options.items);

    auto const servers = std::make_shared<std::vector<server_process>>(
        // Without the lock there is nothing to tell of it.
        start_servers(
            options.servers,
            std::string{redis_url},
            options.locks.empty() ? std::string{redis_url} : options.locks,
            locked,
            locked ? options.metrics_port : std::uint16_t{0}
        )
    );
    auto const floor = std::make_shared<sale_floor>();
    for (auto const& server : *servers) {
        floor->ports.push_back(server.port);
    }
    fmt::print(
        "{} the lock: {} items, {} servers, {} buyers\n",
        locked ? "With" : "Without",
        options.items,
        options.servers,
        options.buyers
    );

    if (locked) {
        auto const items = static_cast<std::uint64_t>(options.items);
        // Something must be left to buy when the victim dies, however long it waits for the lock.
        floor->wait_at = items * 3 / 4;
        if (options.locks.empty()) {
            start(executor, floor, kill_a_holder(floor, servers, redis_url, items / 4));
        } else {
            start(
                executor,
                floor,
                kill_the_primary(floor, redis_url, options.locks, options.items)
            );
        }
    }
    for (std::size_t i = 0; i < options.buyers; ++i) {
        start(executor, floor, buyer(floor, i));
    }
    auto elapsed = co_await watch(watched, *floor, locked);

    auto const state = co_await watched.look();
    print_progress(elapsed, state, *floor);
    if (floor->killed) {
        elapsed -= floor->killed->held + floor->killed->stood_still;
    }
    if (floor->failed_over) {
        elapsed -= floor->failed_over->stood_still;
    }
    sale_result result;
    result.items = options.items;
    result.sold = state.sold;
    result.refused = state.refused;
    result.unanswered = floor->unanswered;
    result.per_second = static_cast<double>(state.sold) / elapsed.count();
    result.locks = co_await collect(*floor);
    result.killed = floor->killed;
    result.failed_over = floor->failed_over;
    co_return result;
}

}  // namespace flash_sale
