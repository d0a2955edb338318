// A price list that many read and one changes at a time: a read/write lock. Readers do not wait for
// each other, and the one that changes it gets its turn although new readers come all the time. The
// two clients stand for two processes.
#include "main.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

using namespace std::chrono_literals;

namespace {

struct price_list {
    int apple = 3;
    int pear = 3;  // always the price of an apple

    int read_by = 0;
    int most_readers = 0;
    bool open = true;
};

asio::awaitable<void> pause(std::chrono::milliseconds length) {
    asio::steady_timer timer{co_await asio::this_coro::executor, length};
    co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> sell(holdfast::read_write_lock prices, price_list& list) {
    while (list.open) {
        auto lease = co_await prices.read().acquire();
        list.most_readers = std::max(list.most_readers, ++list.read_by);
        auto const apple = list.apple;
        co_await pause(2ms);  // stands for work
        expect(apple == list.pear, "somebody changed the prices while they were read");
        --list.read_by;
        co_await lease.release();
    }
}

asio::awaitable<void> raise_prices(holdfast::read_write_lock prices, price_list& list) {
    // The owner may read, too, while it writes.
    auto const me = holdfast::owner::make();
    auto lease = co_await prices.write().acquire({.owner = me});
    expect(list.read_by == 0, "somebody reads while the prices are changed");
    ++list.apple;
    co_await pause(2ms);
    ++list.pear;
    // It goes on as a reader, and nobody changes the prices in between.
    auto reading = co_await prices.read().acquire({.owner = me});
    co_await lease.release();
    fmt::print("an apple and a pear cost {} each\n", list.apple);
    co_await reading.release();
}

}  // namespace

asio::awaitable<void> co_main(holdfast::config config) {
    auto const executor = co_await asio::this_coro::executor;
    holdfast::client here{executor, config};
    holdfast::client there{executor, config};

    price_list list;
    for (int i = 0; i < 8; ++i) {
        auto const& shop = i % 2 == 0 ? here : there;
        auto prices = shop.read_write_lock("lock:prices");
        asio::co_spawn(executor, sell(prices, list), asio::detached);
    }
    co_await pause(20ms);
    for (int i = 0; i < 5; ++i) {
        co_await raise_prices(there.read_write_lock("lock:prices"), list);
    }
    list.open = false;

    // Those who read are waited for.
    auto last = co_await here.read_write_lock("lock:prices").write().acquire();
    co_await last.release();
    expect(list.apple == 8, "a change was lost");
    expect(list.most_readers > 1, "nobody read beside another");
}
