// The smallest example: acquires a lock, prints its fencing token, gives it back.
#include "main.hpp"

#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>

#include <utility>

asio::awaitable<void> co_main(holdfast::config config) {
    auto executor = co_await asio::this_coro::executor;
    holdfast::client client{executor, std::move(config)};

    auto lease = co_await client.lock("lock:hello").acquire();  // waits; renewed until released
    fmt::print("mine, with token {}\n", lease.token().value);
    co_await lease.release();
    fmt::print("given back\n");
}
