// Jobs that are done in the order in which they were handed in, whichever process took them: a fair
// lock. The two clients stand for two processes.
#include "main.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <vector>

using namespace std::chrono_literals;

namespace {

asio::awaitable<void> pause(std::chrono::milliseconds length) {
    asio::steady_timer timer{co_await asio::this_coro::executor, length};
    co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> do_job(holdfast::fair_lock printer, int number, std::vector<int>& done) {
    auto lease = co_await printer.acquire();
    fmt::print("job {} is printed\n", number);
    co_await pause(5ms);  // stands for work
    done.push_back(number);
    co_await lease.release();
}

}  // namespace

asio::awaitable<void> co_main(holdfast::config config) {
    auto const executor = co_await asio::this_coro::executor;
    holdfast::client here{executor, config};
    holdfast::client there{executor, config};

    auto const printer = here.fair_lock("printer");
    auto busy = co_await printer.acquire();
    std::vector<int> done;
    for (int number = 0; number < 6; ++number) {
        auto& taken_by = number % 2 == 0 ? here : there;
        asio::co_spawn(
            executor,
            do_job(taken_by.fair_lock("printer"), number, done),
            asio::detached
        );
        // The next one comes when this one stands in the queue.
        for (auto queue = co_await printer.inspect();
             queue.waiting_clients <= static_cast<std::size_t>(number);
             queue = co_await printer.inspect()) {
            co_await pause(1ms);
        }
    }
    co_await busy.release();

    // Whoever comes now is the last one.
    auto last = co_await printer.acquire();
    co_await last.release();
    expect(done == std::vector{0, 1, 2, 3, 4, 5}, "a job was done before its turn");
}
