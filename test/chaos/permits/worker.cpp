// A process whose coroutines use permits until its input ends.

#include "permits/pool_record.hpp"

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
#include <exception>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

struct pool {
    asio::io_context context;
    holdfast::test::pool_record record;
    holdfast::config settings;
    std::size_t first_holder;
    int coroutines;
    bool stop = false;
    int running = 0;
};

asio::awaitable<void> use_permits(pool& in, holdfast::client& client, int number) {
    std::int64_t const count = number == 0 ? 5 : number % 7 == 0 ? 2 : 1;
    auto const permits = client.semaphore("pool").limit(10).permits(count);
    auto const holder = in.first_holder + static_cast<std::size_t>(number);
    asio::steady_timer timer{in.context};
    ++in.running;
    while (!in.stop) {
        auto lease = co_await permits.acquire();
        if (lease.valid()) {
            in.record.enter(holder, count, lease.deadline());
            timer.expires_after(1ms * (1 + number % 10));
            co_await timer.async_wait(asio::use_awaitable);
            in.record.leave(holder);
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

asio::awaitable<void> run(pool& in) {
    holdfast::client client{in.context.get_executor(), in.settings};
    for (int i = 0; i < in.coroutines; ++i) {
        asio::co_spawn(in.context, use_permits(in, client, i), rethrow);
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
    co_await client.shutdown();
}

}  // namespace

// Arguments: URL, file of the record, number of the first holder, number of coroutines.
int main(int argc, char** argv) {
    if (argc != 5) {
        std::fprintf(stderr, "usage: %s URL RECORD FIRST COROUTINES\n", argv[0]);
        return 2;
    }
    pool here{
        .context = asio::io_context{1},
        .record = holdfast::test::pool_record{argv[2]},
        .settings = holdfast::parse_url(argv[1]),
        .first_holder = std::stoul(argv[3]),
        .coroutines = std::stoi(argv[4]),
    };
    here.settings.lease = 1s;
    here.settings.waiter_patience = 500ms;
    asio::co_spawn(here.context, run(here), rethrow);
    here.context.run();
}
