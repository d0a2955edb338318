// The worker for holdfast: one thread, a coroutine for each that wants a lock.
#include "peers/cpp/worker.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace holdfast::bench;

class worker {
public:
    worker(holdfast::client& locks, task_group& waiters) : locks_{locks}, waiters_{waiters} {}

    asio::awaitable<void> run(std::string const& line) {
        std::istringstream words{line};
        std::string command;
        std::string name;
        words >> command >> name;
        if (command == "key") {
            say("ok " + name);
        } else if (command == "pairs") {
            co_await pairs(name, next(words));
        } else if (command == "keys") {
            auto const workers = next(words);
            co_await keys(name, workers, next(words));
        } else if (command == "acquire") {
            auto const lock = locks_.lock(name);
            held_[name] = co_await lock.acquire();
            answer(now_ns());
        } else if (command == "release") {
            auto lease = std::move(held_.at(name));
            held_.erase(name);
            auto const releasing = now_ns();
            co_await lease.release();
            answer(releasing);
        } else if (command == "contend") {
            auto const start = next(words);
            auto const duration = next(words);
            co_await contend(name, start, duration * 1'000'000, next(words));
        } else if (command == "park") {
            auto const count = next(words);
            park(name, count, next(words));
        } else {
            throw std::runtime_error{"unknown command: " + line};
        }
    }

private:
    static std::int64_t next(std::istream& words) {
        std::int64_t number = 0;
        words >> number;
        return number;
    }

    asio::awaitable<void> pairs(std::string name, std::int64_t count) {
        auto const lock = locks_.lock(name);
        std::vector<std::int64_t> took;
        for (std::int64_t i = 0; i < count; ++i) {
            auto const start = now_ns();
            auto lease = co_await lock.acquire();
            co_await lease.release();
            took.push_back(now_ns() - start);
        }
        answer(median(took));
    }

    static asio::awaitable<void> repeat(holdfast::lock const lock, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
            auto lease = co_await lock.acquire();
            co_await lease.release();
        }
    }

    asio::awaitable<void> keys(std::string prefix, std::int64_t workers, std::int64_t count) {
        auto const start = now_ns();
        task_group group{co_await asio::this_coro::executor};
        for (std::int64_t i = 0; i < workers; ++i) {
            group.spawn(repeat(locks_.lock("{}:{}", prefix, i), count));
        }
        co_await group.join();
        answer(now_ns() - start);
    }

    asio::awaitable<void> contend(
        std::string name,
        std::int64_t start,
        std::int64_t duration,
        std::int64_t hold_us
    ) {
        auto const lock = locks_.lock(name);
        std::vector<turn> turns;
        co_await sleep_until(instant(start));
        while (now_ns() < start + duration) {
            turn t{.called = now_ns()};
            auto lease = co_await lock.acquire();
            t.granted = now_ns();
            co_await sleep_for(std::chrono::microseconds{hold_us});
            t.releasing = now_ns();
            co_await lease.release();
            turns.push_back(t);
        }
        answer(turns);
    }

    static asio::awaitable<void> wait(holdfast::lock const lock) {
        boost::system::error_code ec;
        auto const lease = co_await lock.acquire(asio::redirect_error(asio::use_awaitable, ec));
        if (ec && ec != holdfast::errc::client_stopped) {
            throw boost::system::system_error{ec};
        }
    }

    void park(std::string const& prefix, std::int64_t keys, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
            waiters_.spawn(wait(locks_.lock("{}:{}", prefix, i % keys)));
        }
        answer(count);
    }

    holdfast::client& locks_;
    task_group& waiters_;
    std::map<std::string, holdfast::lease> held_;
};

asio::awaitable<void> serve(std::string port, std::chrono::milliseconds lease) {
    auto const executor = co_await asio::this_coro::executor;
    auto config = holdfast::parse_url("redis://127.0.0.1:" + port);
    config.lease = lease;
    holdfast::client locks{executor, config};
    co_await locks.ready();
    say(fmt::format(
        "ready {}.{}.{}",
        HOLDFAST_VERSION_MAJOR,
        HOLDFAST_VERSION_MINOR,
        HOLDFAST_VERSION_PATCH
    ));

    task_group waiters{executor};
    worker w{locks, waiters};
    asio::posix::stream_descriptor input{executor, ::dup(STDIN_FILENO)};
    std::string pending;
    for (;;) {
        auto const [ec, length] = co_await asio::async_read_until(
            input,
            asio::dynamic_buffer(pending),
            '\n',
            asio::as_tuple
        );
        if (ec) {
            break;
        }
        auto const line = pending.substr(0, length);
        pending.erase(0, length);
        co_await w.run(line);
    }
    co_await locks.shutdown();
    co_await waiters.join();
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 3) {
        std::fputs("usage: holdfast_peer PORT LEASE_MS\n", stderr);
        return 2;
    }
    std::chrono::milliseconds const lease{std::atoll(argv[2])};
    holdfast::bench::run(serve(argv[1], lease), std::chrono::hours{1});
} catch (std::exception const& e) {
    std::fprintf(stderr, "holdfast_peer: %s\n", e.what());
    return 1;
}
