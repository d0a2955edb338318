// Sentinels: the client finds the primary by its name, and follows it to another server. A lock
// that it holds goes along if that server has got it; otherwise the holder is told so at once.
#include "main.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>

#include <chrono>
#include <string_view>
#include <utility>

using namespace std::chrono_literals;

asio::awaitable<void> co_main(holdfast::config config) {
    auto executor = co_await asio::this_coro::executor;
    config.log = [](holdfast::log_level, std::string_view message) {
        fmt::print("    {}\n", message);
    };
    holdfast::client client{executor, std::move(config)};
    auto lock = client.lock("report");
    auto lease = co_await lock.acquire();
    fmt::print("held, with token {}\n", lease.token().value);

    // The loop ends when the lease has survived or lost a failover, or after 15 s without one.
    asio::steady_timer timer{executor};
    auto seen = lease.state();
    bool changed = false;
    for (auto waited = 0ms; waited < 15s; waited += 10ms) {
        timer.expires_after(10ms);
        co_await timer.async_wait();
        if (auto const state = lease.state(); state != seen) {
            fmt::print("{}\n", to_string(state));
            seen = state;
            changed = state != holdfast::lease_state::in_doubt;
        }
        if (changed) {
            break;
        }
    }
    auto const token = lease.token();
    if (lease.valid()) {
        co_await lease.release();
    } else {
        fmt::print("lost: {}\n", to_string(lease.loss()));
    }

    auto next = co_await lock.acquire();
    fmt::print("held again, with token {}\n", next.token().value);
    expect(next.token().value > token.value, "tokens grow over a failover");
    co_await next.release();
}
