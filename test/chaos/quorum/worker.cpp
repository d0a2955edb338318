// A process whose coroutines use what a quorum lock protects until its input ends.

#include "quorum/holder_record.hpp"

#include <holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <deque>
#include <exception>
#include <string>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr int coroutines = 4;

struct workshop {
    asio::io_context context;
    holdfast::test::holder_record record;
    std::vector<std::string> urls;
    bool stop = false;
    int running = 0;
};

asio::awaitable<void> work(workshop& in, holdfast::quorum_lock lock, int number) {
    asio::steady_timer timer{in.context};
    ++in.running;
    while (!in.stop) {
        auto const limit = 2s;
        auto [ec, lease] =
            co_await lock.try_acquire_for(limit, asio::as_tuple(asio::use_awaitable));
        if (lease.valid() && in.record.enter(lease.token().value, lease.deadline())) {
            timer.expires_after(1ms * (1 + number % 4));
            co_await timer.async_wait(asio::use_awaitable);
            in.record.leave(lease.token().value);
        }
        co_await lease.release(asio::as_tuple(asio::use_awaitable));
    }
    --in.running;
}

void rethrow(std::exception_ptr const& failure) {
    if (failure) {
        std::rethrow_exception(failure);
    }
}

asio::awaitable<void> run(workshop& in) {
    std::deque<holdfast::client> clients;
    std::vector<holdfast::lock> nodes;
    for (auto const& url : in.urls) {
        auto settings = holdfast::parse_url(url);
        settings.lease = 1s;
        nodes.push_back(clients.emplace_back(in.context, std::move(settings)).lock("resource"));
    }
    holdfast::quorum_lock const lock{nodes};
    for (int i = 0; i < coroutines; ++i) {
        asio::co_spawn(in.context, work(in, lock, i), rethrow);
    }
    asio::posix::stream_descriptor input{in.context, ::dup(STDIN_FILENO)};
    std::array<char, 64> bytes{};
    auto const into = asio::buffer(bytes);
    co_await input.async_read_some(into, asio::as_tuple(asio::use_awaitable));
    in.stop = true;
    asio::steady_timer timer{in.context};
    while (in.running > 0) {
        timer.expires_after(5ms);
        co_await timer.async_wait(asio::use_awaitable);
    }
    for (auto& each : clients) {
        co_await each.shutdown(asio::as_tuple(asio::use_awaitable));
    }
}

}  // namespace

// Arguments: file of the record, URLs of the servers.
int main(int argc, char** argv) {
    if (argc < 5) {
        std::fprintf(stderr, "usage: %s RECORD URL URL URL...\n", argv[0]);
        return 2;
    }
    workshop here{
        .context = asio::io_context{1},
        .record = holdfast::test::holder_record{argv[1]},
        .urls = {argv + 2, argv + argc},
    };
    asio::co_spawn(here.context, run(here), rethrow);
    here.context.run();
}
