// A program for a debugger to stop in: it has leases in every state when it calls look_here().
#include <holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>

#include <chrono>
#include <exception>
#include <utility>

namespace asio = boost::asio;

struct everything {
    holdfast::client client;
    holdfast::client moved_from;
    holdfast::lock lock;
    holdfast::fair_lock fair_lock;
    holdfast::lease held;
    holdfast::lease lost;
    holdfast::lease released;
    holdfast::lease empty;
    holdfast::multi_lease both;
};

// The debugger's breakpoint.
[[gnu::noinline]] void look_here(everything const& all) {
    asm volatile("" : : "g"(&all) : "memory");
}

asio::awaitable<void> prepare(char const* url) {
    auto executor = co_await asio::this_coro::executor;
    auto config = holdfast::parse_url(url);
    config.lease = std::chrono::minutes{10};  // a debugger takes its time
    holdfast::client client{executor, config};
    auto lock = client.lock("stock:apple");
    auto fair_lock = client.fair_lock("till");
    auto held = co_await lock.acquire();
    auto lost = co_await client.lock("lost").acquire();
    co_await client.lock("lost").force_release();
    co_await lost.renew(asio::as_tuple(asio::deferred));
    auto released = co_await client.lock("released").acquire();
    co_await released.release();
    holdfast::multi_lock const both{client.lock("left"), client.lock("right")};
    auto both_held = co_await both.acquire();

    holdfast::client other{executor, config};
    holdfast::client moved{std::move(other)};
    look_here({
        std::move(client),
        std::move(other),
        lock,
        fair_lock,
        std::move(held),
        std::move(lost),
        std::move(released),
        {},
        std::move(both_held),
    });
}

int main(int, char** argv) {
    asio::io_context context;
    asio::co_spawn(context, prepare(argv[1]), [](std::exception_ptr failure) {
        if (failure) {
            std::rethrow_exception(failure);
        }
    });
    context.run();
}
