// The code of README.md and of the documentation's pages, word for word: see
// test/unit/pages_test.cpp.
// clang-format off

#include <holdfast.hpp>
#include <boost/asio.hpp>
#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> sell() {
    auto config = holdfast::parse_url("redis://127.0.0.1");
    config.log = [](holdfast::log_level level, std::string_view message) {
        if (level <= holdfast::log_level::warning) std::cerr << message << std::endl;
    };
    holdfast::client client{co_await asio::this_coro::executor, config};
    co_await client.ready(asio::cancel_after(5s));  // throws if there is no server

    auto lock = client.lock("lock:stock:{}:{}", 7, "apple");
    auto lease = co_await lock.acquire();  // waits; renewed until it is released
    std::cout << "mine, with token " << lease.token().value << std::endl;
    co_await lease.release();
}

int main() {
    asio::io_context context;
    asio::co_spawn(context, sell(), [](std::exception_ptr e) { if (e) std::rethrow_exception(e); });
    context.run();
}

#include <thread>
#include <vector>

asio::awaitable<void> the_first_lines(
    holdfast::client& client,
    asio::awaitable<void> (*sell_one)(std::string_view, holdfast::fencing_token)
) {
auto lock = client.lock("lock:stock:{}:{}", 7, "apple");
auto lease = co_await lock.acquire();       // sleeps until the lock is free; renewed while you work
co_await sell_one("apple", lease.token());  // the token lets your database refuse a holder that came too late
co_await lease.release();
}

asio::awaitable<void> several_ways(holdfast::client& client) {
    auto lock = client.lock("lock:report");

    {
        auto lease = co_await lock.try_acquire();  // one attempt
        if (!lease) {
            std::cout << "somebody else has it\n";
        }
    }  // a lease that goes out of scope is released in the background

    auto lease = co_await lock.try_acquire_for(2s);  // empty if it was still busy then
    if (lease) {
        co_await lease.release();
    }

    lease = co_await lock.acquire({.lease = 10s, .max_hold = 1min});
    while (lease.valid()) {  // computed from the clock at each call
        std::cout << "working, at most " << lease.remaining() / 1s << " s\n";
        break;
    }
    co_await lease.release();
}

asio::awaitable<int> with_the_lock(holdfast::client& client, asio::awaitable<int> (*count)(holdfast::fencing_token)) {
    auto body = [&](holdfast::lease& lease) -> asio::awaitable<int> {
        co_return co_await count(lease.token());
    };
    auto lock = client.lock("lock:stock");
    co_return co_await holdfast::with_lease(lock, body);
}

void in_a_callback(holdfast::client& client) {
    client.lock("lock:stock").acquire([](boost::system::error_code ec, holdfast::lease lease) {
        if (ec) {
            std::cerr << ec.message() << '\n';
        } else {
            std::cout << "mine, with token " << lease.token().value << '\n';
        }
    });
}

void with_futures() {
    asio::io_context context;
    auto work = asio::make_work_guard(context);
    std::thread worker{[&] { context.run(); }};
    {
        holdfast::client client{context, "redis://127.0.0.1"};
        holdfast::lease lease = client.lock("lock:stock").acquire(asio::use_future).get();
        lease.release(asio::use_future).get();
    }
    work.reset();
    worker.join();
}

asio::awaitable<void> twice(holdfast::client& client) {
    auto me = holdfast::owner::make();
    auto lock = client.lock("lock:account");
    auto outer = co_await lock.acquire({.owner = me});
    auto inner = co_await lock.acquire({.owner = me});  // at once, with the same token
    co_await inner.release();
    co_await outer.release();  // the last one frees the lock
}

asio::awaitable<void> move_money(holdfast::fencing_token of_from, holdfast::fencing_token of_to);

asio::awaitable<void> transfer(holdfast::client& client, int from, int to) {
    holdfast::multi_lock both{client.lock("account:{}", from), client.lock("account:{}", to)};
    auto lease = co_await both.acquire();
    co_await move_money(lease.token(0), lease.token(1));
    co_await lease.release();
}

asio::awaitable<void> pay(asio::any_io_executor executor) {
    auto config = holdfast::parse_url("redis://127.0.0.1");
    config.replicas = {.count = 1, .timeout = 500ms};
    holdfast::client client{executor, config};
    auto lease = co_await client.lock("payments").acquire();  // a replica has it
    co_await lease.release();
}

asio::awaitable<void> write_report(holdfast::fencing_token of_holder);

asio::awaitable<void> publish(holdfast::client& a, holdfast::client& b, holdfast::client& c) {
    holdfast::quorum_lock lock{a.lock("report"), b.lock("report"), c.lock("report")};
    auto lease = co_await lock.acquire();
    co_await write_report(lease.token());
    co_await lease.release();
}

asio::awaitable<void> brief(holdfast::client& client) {
    auto lease = co_await client.lock("lock:stock").acquire({.lease = holdfast::learned});
    co_await lease.release();
}

asio::awaitable<void> run_as_the_only_one(holdfast::client& client, asio::awaitable<void> (*job)(holdfast::fencing_token)) {
    auto body = [&](holdfast::lease& lease) -> asio::awaitable<void> {
        co_await job(lease.token());  // cancelled if the lease is lost
    };
    auto lock = client.lock("lock:scheduler");
    co_await holdfast::with_lease(lock, body);
}

asio::awaitable<std::vector<holdfast::lease>> take_shards(holdfast::client& client, int shards, std::size_t at_most) {
    std::vector<holdfast::lease> mine;
    for (int shard = 0; shard < shards && mine.size() < at_most; ++shard) {
        auto lock = client.lock("lock:shard:{}", shard);
        auto lease = co_await lock.try_acquire();
        if (lease) {
            mine.push_back(std::move(lease));
        }
    }
    co_return mine;
}

asio::awaitable<void> call_the_api(holdfast::client& client, asio::awaitable<void> (*request)()) {
    auto slots = client.semaphore("api:slots");
    auto slot = co_await slots.acquire();
    co_await request();
    co_await slot.release();
}

asio::awaitable<void> relay(
    holdfast::client& client,
    asio::awaitable<bool> (*send_next_batch)(holdfast::fencing_token)  // false: another relay has been there
) {
    auto lease = co_await client.lock("lock:outbox").acquire({.lease = 10s});
    while (lease.valid() && co_await send_next_batch(lease.token())) {
    }
    co_await lease.release();
}
