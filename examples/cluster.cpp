// Locks on a Redis Cluster: each key has one of 16384 slots, and each slot has a server. The client
// finds the servers through any node, and follows the slots when they move. Names with the same
// hash tag, the part in braces, have the same slot: what belongs together can be taken by one
// command.
#include "main.hpp"

#include <holdfast/multi_lock.hpp>

#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>

#include <string>
#include <utility>

asio::awaitable<void> co_main(holdfast::config config) {
    auto executor = co_await asio::this_coro::executor;
    holdfast::client client{executor, std::move(config)};
    co_await client.ready();  // a node has said where the slots are, and all have a server

    for (std::string const city : {"Lima", "Oslo", "Quito"}) {
        auto lease = co_await client.lock("stock:{}", city).acquire();
        fmt::print("{}: mine, with token {}\n", city, lease.token().value);
        co_await lease.release();
    }

    // `{{…}}` is a brace in a format string: both names have the tag `order:42`.
    holdfast::multi_lock both{
        client.lock("{{order:{}}}:head", 42),
        client.lock("{{order:{}}}:lines", 42)
    };
    auto order = co_await both.acquire();
    fmt::print("the order: mine, all of it\n");
    co_await order.release();
}
