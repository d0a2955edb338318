// Boost.Cobalt: the lock's operations are awaited in a Cobalt coroutine as they are, Cobalt's join
// runs workers side by side, and its race ends a wait.
#include <holdfast.hpp>

#include <boost/asio/steady_timer.hpp>
#include <boost/cobalt/join.hpp>
#include <boost/cobalt/main.hpp>
#include <boost/cobalt/op.hpp>
#include <boost/cobalt/promise.hpp>
#include <boost/cobalt/race.hpp>
#include <boost/cobalt/this_coro.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <stdexcept>

namespace asio = boost::asio;
namespace cobalt = boost::cobalt;
using namespace std::chrono_literals;

namespace {

// Guarded by the lock "account", and by nothing else.
int balance = 0;

cobalt::promise<void> pay_in(holdfast::lock lock, int amount) {
    auto executor = co_await cobalt::this_coro::executor;
    // An operation with holdfast's default token, asio::deferred, is awaited by a Cobalt coroutine.
    auto lease = co_await lock.acquire();
    int const before = balance;
    asio::steady_timer work{executor, 20ms};
    co_await work.async_wait(asio::deferred);
    balance = before + amount;
    fmt::print("{} paid in, with token {}\n", amount, lease.token().value);
    co_await lease.release();
}

cobalt::promise<void> wait_for(holdfast::lock lock) {
    auto lease = co_await lock.acquire();
    throw std::logic_error{"two have the lock"};
}

cobalt::promise<void> after(std::chrono::milliseconds time) {
    asio::steady_timer timer{co_await cobalt::this_coro::executor, time};
    co_await timer.async_wait(asio::deferred);
}

}  // namespace

cobalt::main co_main(int argc, char** argv) {
    auto executor = co_await cobalt::this_coro::executor;
    holdfast::client client{executor, argc > 1 ? argv[argc - 1] : "redis://127.0.0.1"};
    auto lock = client.lock("account");

    co_await cobalt::join(pay_in(lock, 1), pay_in(lock, 10), pay_in(lock, 100));
    fmt::print("the balance is {}\n", balance);

    auto lease = co_await lock.acquire();
    std::size_t const first = co_await cobalt::race(wait_for(lock), after(100ms));
    fmt::print("{}\n", first == 1 ? "the wait was given up" : "two have the lock");
    co_await lease.release();
    co_return balance == 111 && first == 1 ? 0 : 1;
}
