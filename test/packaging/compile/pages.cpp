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

static_assert(HOLDFAST_VERSION >= 100, "this needs holdfast 0.1.0 or newer");

asio::awaitable<void> sell_one(std::string_view sku, holdfast::fencing_token of_holder);

asio::awaitable<void> sell(holdfast::client& client, int warehouse, std::string_view sku) {
    auto lock = client.lock("lock:stock:{}:{}", warehouse, sku);
    auto lease = co_await lock.acquire();   // sleeps until the lock is free; renewed while you work
    co_await sell_one(sku, lease.token());  // the token lets your database refuse a holder that came too late
    co_await lease.release();               // wakes the one that waits first
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

asio::awaitable<void> with_the_lock_within(holdfast::client& client, asio::awaitable<void> (*job)(holdfast::fencing_token)) {
    auto body = [&](holdfast::lease& lease) -> asio::awaitable<void> { co_await job(lease.token()); };
    auto lock = client.lock("lock:stock");
    try {
        co_await holdfast::with_lease(lock, body, {.wait_at_most = 2s});
    } catch (boost::system::system_error const& e) {
        if (e.code() != asio::error::try_again) throw;
        std::cout << "somebody else has it\n";  // for 2 s: the job was not started
    }
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

asio::awaitable<void> each_minute(holdfast::client& client, asio::awaitable<void> (*job)(long minute, holdfast::fencing_token)) {
    asio::system_timer minute_end{co_await asio::this_coro::executor};
    auto lock = client.lock("lock:report");
    for (;;) {
        auto lease = co_await lock.acquire();
        auto const minute = std::chrono::floor<std::chrono::minutes>(std::chrono::system_clock::now());
        co_await job(minute.time_since_epoch().count(), lease.token());
        minute_end.expires_at(minute + 1min);
        co_await minute_end.async_wait();
        co_await lease.release();
    }
}

asio::awaitable<void> keep_for_a_second(holdfast::lease slot) {
    asio::steady_timer second{co_await asio::this_coro::executor, 1s};
    co_await second.async_wait();
    co_await slot.release();
}

asio::awaitable<void> call_at_a_rate(holdfast::client& client, asio::awaitable<void> (*request)()) {
    auto executor = co_await asio::this_coro::executor;
    auto slots = client.semaphore("api:rate").limit(20);
    auto slot = co_await slots.acquire();
    asio::co_spawn(executor, keep_for_a_second(std::move(slot)), asio::detached);
    co_await request();
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
    auto slots = client.semaphore("api:slots").limit(20);
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

// The metrics are an optional part.
#if __has_include(<prometheus/exposer.h>)
#include <holdfast/prometheus.hpp>
#include <prometheus/exposer.h>

holdfast::config watched(prometheus::Exposer& exposer) {
    auto metrics = std::make_shared<holdfast::prometheus_metrics>();
    exposer.RegisterCollectable(metrics);  // which does not keep it: the clients do

    auto config = holdfast::parse_url("redis://127.0.0.1");
    config.observer = metrics;  // the same one for all clients of the program
    return config;
}

std::shared_ptr<holdfast::prometheus_metrics> by_kind_of_lock() {
    holdfast::prometheus_options options;
    options.lock_label = [](std::string_view lock) {  // "stock:7:apple" counts as "stock"
        return std::string{lock.substr(0, lock.find(':'))};
    };
    options.max_lock_labels = 20;  // a mistake costs no more than that; the others count as "other"
    return std::make_shared<holdfast::prometheus_metrics>(std::move(options));
}
#endif

void print_health(holdfast::client const& client) {
    auto const now = client.stats();
    std::cout << now.leases_now << " held, " << now.waiters_now << " waiting, "
              << now.connections_now << " connections, "
              << now.losses.expired + now.losses.unreachable << " leases lost in time\n";
}

holdfast::config logged() {
    auto config = holdfast::parse_url("redis://127.0.0.1");
    config.log = [](holdfast::log_level level, std::string_view message) {
        if (level <= holdfast::log_level::warning) std::clog << "holdfast: " << message << '\n';
    };
    return config;
}

asio::awaitable<void> run_the_scheduler(
    holdfast::client& client,
    asio::awaitable<void> (*run_next_job)(holdfast::fencing_token)
) {
    auto election = client.election("scheduler");
    for (;;) {
        auto leads = co_await election.campaign("10.0.0.7:9000");  // waits until it leads, and says where it can be found
        while (leads.valid()) {
            co_await run_next_job(leads.term());  // what it writes to refuses an older term
        }
    }
}

asio::awaitable<void> follow_the_scheduler(holdfast::client& client) {
    auto observer = client.election("scheduler").observe();
    for (;;) {
        auto leader = co_await observer.next();
        if (leader) {
            std::cout << leader.value << " leads in term " << leader.term.value << '\n';
        } else {
            std::cout << "nobody leads\n";
        }
    }
}

#include <holdfast/testing/memory_server.hpp>
#include <future>

void check(bool expected);

asio::awaitable<bool> packs_once(holdfast::client& client, int order) {
    auto lock = client.lock("order:{}", order);
    auto lease = co_await lock.try_acquire_for(2s);
    co_return bool{lease};  // a real one would do something here
}

void an_order_that_somebody_has_is_left_alone() {
    asio::io_context context;
    holdfast::testing::memory_server server{holdfast::testing::virtual_time};
    holdfast::client client{context, server};
    server.hold_as_other("order:7", 10s);

    auto packed = asio::co_spawn(context, packs_once(client, 7), asio::use_future);
    server.advance(3s);  // at once: nothing sleeps
    check(!packed.get());

    packed = asio::co_spawn(context, packs_once(client, 7), asio::use_future);
    bool const done = server.advance_until([&] { return packed.wait_for(0s) == std::future_status::ready; });
    check(done && !packed.get());  // 5 s after the start, it is still theirs

    server.advance(10s);  // whoever had it has crashed: nobody renewed that lease
    check(!server.inspect("order:7").held);
}

asio::awaitable<void> a_lease_is_lost_while_the_server_hangs(holdfast::testing::memory_server& server, holdfast::client& client) {
    auto lease = co_await client.lock("report").acquire();
    server.advance(1h);  // renewed 300 times and more
    check(lease.valid());

    server.pause();
    server.advance(30s);
    check(!lease.valid() && lease.loss() == holdfast::loss_reason::unreachable);
    server.resume();
}
