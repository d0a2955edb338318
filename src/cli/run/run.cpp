#include "cli/run/run.hpp"

#include "cli/run/holding.hpp"
#include "cli/run/passed_signals.hpp"
#include "cli/run/supervision.hpp"

#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <csignal>

namespace holdfast::cli {

using namespace std::chrono_literals;

asio::awaitable<run_ending> run(
    context const& on,
    run_options const& options,
    inherited_signals const& signals,
    guard const& by
) {
    auto const executor = co_await asio::this_coro::executor;
    run_events events{executor};
    passed_signals const passed{executor, signals, events};
    holding held{on, options, executor, events};
    auto ending = co_await held.acquire();
    if (!ending) {
        supervision watched{on, options, by, executor, held, events};
        auto ended = co_await watched.run();
        ending = co_await held.give_back(ended, watched.lost());
    } else {
        co_await held.shut_down();
    }
    co_return *ending;
}

std::chrono::nanoseconds grace_of(
    run_options const& options,
    std::chrono::nanoseconds lease_remaining
) noexcept {
    return options.kill_after ? std::chrono::nanoseconds{*options.kill_after}
                              : std::clamp<std::chrono::nanoseconds>(lease_remaining, 1s, 5s);
}

run_ending ended_by(int signal) noexcept {
    return {128 + signal, signal == SIGINT ? SIGINT : 0};
}

}  // namespace holdfast::cli
