// Two ways to wait for a limited time. cancel_after fits every operation and says only that it was
// cancelled. try_acquire_for says why there is no lease: it is empty if the lock was busy, and an
// error tells that the server could not be asked.
#include "main.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>

#include <chrono>

using namespace std::chrono_literals;

namespace {

asio::awaitable<void> wait_both_ways(
    holdfast::lock const& lock,
    char const* state,
    holdfast::error_code expected
) {
    auto cancelled = lock.acquire(asio::cancel_after(300ms, asio::as_tuple));
    auto [ec, none] = co_await std::move(cancelled);
    fmt::print("{}: cancel_after: {}\n", state, ec.message());
    expect(ec == asio::error::operation_aborted, "acquire was not cancelled");

    auto limited = lock.try_acquire_for(300ms, asio::as_tuple);
    auto [why, lease] = co_await std::move(limited);
    fmt::print(
        "{}: try_acquire_for: {}\n",
        state,
        why ? why.message() : "no error, an empty lease"
    );
    expect(why == expected && !lease, "try_acquire_for did not say what happened");
}

}  // namespace

asio::awaitable<void> co_main(holdfast::config config) {
    auto executor = co_await asio::this_coro::executor;
    holdfast::client client{executor, config};
    auto lock = client.lock("timeouts");
    auto held = co_await lock.acquire();
    holdfast::error_code const none;
    co_await wait_both_ways(lock, "busy", none);
    co_await held.release();

    config.unix_socket = "/nobody/listens/here";
    holdfast::client lonely{executor, config};
    auto out_of_reach = lonely.lock("timeouts");
    co_await wait_both_ways(out_of_reach, "no server", holdfast::errc::unreachable);
}
