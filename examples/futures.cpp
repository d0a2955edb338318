// Futures, for a thread that is not one of the context's and may block, such as main() here.
#include "main.hpp"

#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <future>
#include <utility>

using namespace std::chrono_literals;

int main(int argc, char** argv) try {
    auto config = holdfast::parse_url(argc > 1 ? argv[argc - 1] : "redis://127.0.0.1");
    // The client's work is done by this thread, so it must not be the one that waits for a future.
    asio::thread_pool context{1};
    holdfast::client client{context, std::move(config)};
    auto lock = client.lock("futures");

    // get() throws what went wrong, as a boost::system::system_error. The lease is renewed by the
    // context's thread, which cannot see that this one is stuck; max_hold is what ends it then.
    holdfast::lease lease = lock.acquire({.max_hold = 1min}, asio::use_future).get();
    fmt::print("mine, with token {}\n", lease.token().value);

    std::future<holdfast::lease> next = lock.acquire(asio::use_future);
    bool const waits = next.wait_for(200ms) == std::future_status::timeout;
    expect(waits, "the lock was granted twice");
    fmt::print("whoever asks now gets a future that is not ready\n");

    lease.release(asio::use_future).get();
    lease = next.get();
    fmt::print("ready after the release, with token {}\n", lease.token().value);
    lease.release(asio::use_future).get();

    client.shutdown(asio::use_future).get();
    context.join();
} catch (std::exception const& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
}
