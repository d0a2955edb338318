// Futures, for a thread that is not one of the context's and may block, such as main() here.
#include "main.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <future>
#include <thread>
#include <utility>

using namespace std::chrono_literals;

namespace {

// A context, and the thread that completes the futures. The guard keeps run() from returning while
// there is nothing to do, as now, before there is a client: a future that nobody completes is never
// ready, and get() on it waits for ever.
class background {
public:
    ~background() {
        guard_.reset();
        thread_.join();
    }

    asio::io_context& context() { return context_; }

private:
    asio::io_context context_{1};
    asio::executor_work_guard<asio::io_context::executor_type> guard_{context_.get_executor()};
    std::thread thread_{[this] { context_.run(); }};
};

}  // namespace

int main(int argc, char** argv) try {
    auto config = holdfast::parse_url(argc > 1 ? argv[argc - 1] : "redis://127.0.0.1");
    background worker;
    holdfast::client client{worker.context(), std::move(config)};
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
} catch (std::exception const& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
}
