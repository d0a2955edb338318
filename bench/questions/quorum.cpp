// What does it cost to have a majority of five servers? Against a bare client that sends the same
// scripts to all five at once and goes on with the third reply.
#include "protocol/quorum_lock.hpp"
#include "questions/questions.hpp"
#include "support/bare_lock.hpp"
#include "support/measure.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstddef>
#include <deque>
#include <exception>
#include <vector>

namespace holdfast::bench {

namespace {

constexpr std::size_t servers = 5;
constexpr std::size_t majority = 3;
// What is left of a pair, the late replies, shall not count for the next one.
constexpr std::chrono::microseconds rest{300};

class bare_quorum {
public:
    bare_quorum(asio::any_io_executor executor, std::deque<test::redis_server> const& all)
        : executor_{executor},
          answered_{executor} {
        for (auto const& each : all) {
            connections_.emplace_back(executor, each.unix_socket());
            locks_.emplace_back(
                connections_.back(),
                detail::make_quorum_lock_target({}, "quorum:bare")
            );
        }
    }

    /// The time until a majority has answered, in microseconds. All have when it is over.
    [[nodiscard]] asio::awaitable<double> acquire() {
        auto const start = clock::now();
        count_ = 0;
        for (auto& each : locks_) {
            asio::co_spawn(executor_, each.acquire(), [this](std::exception_ptr e, std::uint64_t) {
                on_answer(e);
            });
        }
        co_await wait_for(majority);
        auto const took = seconds_since(start) * 1e6;
        co_await wait_for(servers);
        co_return took;
    }
    [[nodiscard]] asio::awaitable<void> release() {
        count_ = 0;
        for (auto& each : locks_) {
            asio::co_spawn(executor_, each.release(), [this](std::exception_ptr e) {
                on_answer(e);
            });
        }
        co_await wait_for(servers);
    }

private:
    void on_answer(std::exception_ptr const& failure) {
        if (failure) {
            std::rethrow_exception(failure);
        }
        ++count_;
        answered_.cancel();
    }
    [[nodiscard]] asio::awaitable<void> wait_for(std::size_t count) {
        while (count_ < count) {
            boost::system::error_code cancelled;
            answered_.expires_after(std::chrono::minutes{1});
            auto wait = answered_.async_wait(asio::deferred);
            co_await std::move(wait)(asio::redirect_error(asio::use_awaitable, cancelled));
        }
    }

    asio::any_io_executor executor_;
    asio::steady_timer answered_;
    std::deque<bare_connection> connections_;
    std::deque<bare_lock> locks_;
    std::size_t count_ = 0;
};

asio::awaitable<double> bare_median(bare_quorum& on, int pairs) {
    std::vector<double> microseconds;
    for (int i = 0; i < pairs; ++i) {
        microseconds.push_back(co_await on.acquire());
        co_await on.release();
        co_await sleep_for(rest);
    }
    co_return median(std::move(microseconds));
}

asio::awaitable<double> our_median(quorum_lock const& on, int pairs) {
    std::vector<double> microseconds;
    for (int i = 0; i < pairs; ++i) {
        auto const start = clock::now();
        auto lease = co_await on.acquire();
        microseconds.push_back(seconds_since(start) * 1e6);
        // As the bare client does, it waits for all.
        while (lease.nodes() < servers) {
            co_await sleep_for(std::chrono::microseconds{50});
        }
        co_await lease.release();
        co_await sleep_for(rest);
    }
    co_return median(std::move(microseconds));
}

asio::awaitable<void> measure(environment& env, comparison& result) {
    auto const executor = co_await asio::this_coro::executor;
    std::deque<test::redis_server> all(servers);
    std::deque<client> clients;
    std::vector<lock> nodes;
    for (auto const& each : all) {
        auto settings = parse_url(each.url());
        settings.restart_delay = std::chrono::milliseconds{0};
        nodes.push_back(clients.emplace_back(executor, std::move(settings)).lock("quorum:ours"));
        co_await clients.back().ready();
    }
    quorum_lock const ours{nodes};
    // Teaches the servers the scripts.
    auto once = co_await ours.acquire();
    co_await once.release();
    bare_quorum bare{executor, all};
    constexpr int pairs = 200;
    co_await our_median(ours, pairs);
    co_await bare_median(bare, pairs);
    auto const rounds = env.short_rounds();
    for (int round = 0; round < rounds; ++round) {
        env.progress(round, rounds);
        auto const f = co_await bare_median(bare, pairs);
        auto const o = co_await our_median(ours, pairs);
        result.add(o, f);
    }
    for (auto& each : clients) {
        co_await each.shutdown();
    }
}

}  // namespace

figures quorum(environment& env) {
    comparison result{"quorum", "us", {budget::kind::ratio_at_most, 1.5}};
    run(measure(env, result));
    return {result.result("acquire, three of five servers, p50")};
}

}  // namespace holdfast::bench
