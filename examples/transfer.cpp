// Money moves between accounts, two of which are held at a time: a multi-lock takes both or none,
// and two transfers in opposite directions never wait for each other. The clients stand for
// processes.
#include "main.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <numeric>

using namespace std::chrono_literals;

namespace {

struct bank {
    std::array<int, 4> balances{100, 100, 100, 100};
    int transfers = 0;
    int at_work = 0;
};

asio::awaitable<void> pause(std::chrono::microseconds length) {
    asio::steady_timer timer{co_await asio::this_coro::executor, length};
    co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> transfer(
    holdfast::client& client,
    bank& of,
    std::size_t from,
    std::size_t to,
    int amount
) {
    holdfast::multi_lock const both{
        client.lock("account:{}", from),
        client.lock("account:{}", to),
    };
    // A store would be given the tokens: `lease.token(0)` with what it is told of `from`.
    auto lease = co_await both.acquire();
    auto const from_had = of.balances[from];
    auto const to_had = of.balances[to];
    co_await pause(300us);  // stands for work
    of.balances[from] = from_had - amount;
    of.balances[to] = to_had + amount;
    ++of.transfers;
    co_await lease.release();
}

// Every account gives to each of the others, and gets as much.
asio::awaitable<void> trade(holdfast::client& client, bank& of, std::size_t own) {
    ++of.at_work;
    for (std::size_t i = 1; i < of.balances.size(); ++i) {
        co_await transfer(client, of, own, (own + i) % of.balances.size(), 7);
    }
    --of.at_work;
}

}  // namespace

asio::awaitable<void> co_main(holdfast::config config) {
    auto const executor = co_await asio::this_coro::executor;
    holdfast::client here{executor, config};
    holdfast::client there{executor, config};
    bank accounts;
    for (std::size_t own = 0; own < accounts.balances.size(); ++own) {
        for (auto* const client : {&here, &there}) {
            asio::co_spawn(executor, trade(*client, accounts, own), asio::detached);
        }
    }
    do {
        co_await pause(1ms);
    } while (accounts.at_work > 0);
    fmt::print("{} transfers\n", accounts.transfers);
    expect(accounts.transfers == 24, "a transfer was not made");
    auto const sum = std::accumulate(accounts.balances.begin(), accounts.balances.end(), 0);
    expect(sum == 400, "money was lost, or came from nowhere");
    expect(accounts.balances[0] == 100, "a transfer was overwritten");
}
