// One lock on three independent servers, of which one may fail: a quorum lock. It has a main of its
// own, whose last three arguments are the URLs of the servers. The two quorum locks stand for two
// processes.
#include "main.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <exception>
#include <string>
#include <vector>

using namespace std::chrono_literals;

namespace {

// A client of each server.
using nodes = std::deque<holdfast::client>;

nodes connect(asio::any_io_executor executor, std::vector<std::string> const& urls) {
    nodes made;
    for (auto const& url : urls) {
        auto settings = holdfast::parse_url(url);
        // These servers are new, and have nothing that they could have forgotten. Leave this out
        // for servers that may be restarted.
        settings.restart_delay = 0ms;
        made.emplace_back(executor, std::move(settings));
    }
    return made;
}

holdfast::quorum_lock lock_on(nodes const& all) {
    return holdfast::quorum_lock{
        all[0].lock("report"),
        all[1].lock("report"),
        all[2].lock("report"),
    };
}

asio::awaitable<void> pause(std::chrono::milliseconds length) {
    asio::steady_timer timer{co_await asio::this_coro::executor, length};
    co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> show(std::vector<std::string> urls) {
    auto const executor = co_await asio::this_coro::executor;
    auto here = connect(executor, urls);
    auto there = connect(executor, urls);

    auto lease = co_await lock_on(here).acquire();
    while (lease.nodes() < 3) {
        co_await pause(1ms);  // two were enough; the third one joins
    }
    fmt::print("held on {} servers, token {}\n", lease.nodes(), lease.token().value);
    auto const refused = co_await lock_on(there).try_acquire();
    expect(!refused, "two have the lock");

    // To the lock it is all the same whether a server has failed or its client is gone.
    co_await here[1].shutdown();
    expect(lease.valid(), "one server of three was one too many");
    fmt::print("still held on {}\n", lease.nodes());
    auto const first = lease.token();
    co_await lease.release();

    auto next = co_await lock_on(there).acquire();
    fmt::print("then by another, token {}\n", next.token().value);
    expect(next.token() > first, "the token did not grow");
    co_await next.release();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        fmt::print(stderr, "usage: {} URL URL URL\n", argv[0]);
        return 2;
    }
    try {
        run(show({argv + argc - 3, argv + argc}));
    } catch (std::exception const& e) {
        fmt::print(stderr, "{}\n", e.what());
        return 1;
    }
}
