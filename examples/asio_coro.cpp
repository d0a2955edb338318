// Asio's experimental::coro: a coroutine that yields values. It yields each page of a ledger while
// it holds the ledger's lock, and keeps the lock until the consumer asks for the next page.
#include "main.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/experimental/coro.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <utility>

namespace {

// The first parameter is where it runs.
asio::experimental::coro<int> pages(asio::any_io_executor, int count, holdfast::lock lock) {
    for (int page = 1; page <= count; ++page) {
        // In a coro an operation needs no token: holdfast's default, asio::deferred, is awaited.
        auto lease = co_await lock.acquire();
        co_yield page;
        co_await lease.release();
    }
}

}  // namespace

asio::awaitable<void> co_main(holdfast::config config) {
    auto executor = co_await asio::this_coro::executor;
    holdfast::client client{executor, std::move(config)};
    auto lock = client.lock("ledger");

    auto ledger = pages(executor, 3, lock);
    int written = 0;
    while (auto page = co_await ledger.async_resume(asio::use_awaitable)) {
        auto other = co_await lock.try_acquire();
        expect(!other, "the lock is not held while the page is written");
        fmt::print("page {} is written\n", *page);
        ++written;
    }
    expect(written == 3, "a page is missing");

    auto lease = co_await lock.try_acquire();
    expect(lease.valid(), "the last page was not given back");
    co_await lease.release();
}
