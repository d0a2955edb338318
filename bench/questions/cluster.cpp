// What does a Redis Cluster cost? A pair on a cluster of one node, against the same on a server
// that is no cluster. And 1 000 keys over three nodes, against Boost.Redis with the same scripts,
// each sent straight to the node that has its key.
#include "questions/questions.hpp"
#include "support/bare_lock.hpp"
#include "support/pairs.hpp"
#include "support/redis_cluster.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <deque>

namespace holdfast::bench {

namespace {

constexpr int coroutines = 1000;
constexpr std::size_t nodes = 3;

// Both over TCP: a cluster has no other way.
asio::awaitable<void> measure_pair(environment& env, comparison& result) {
    auto const executor = co_await asio::this_coro::executor;
    test::redis_server plain{{.tcp = true}};
    test::redis_cluster cluster{{.primaries = 1}};
    client on_plain{executor, plain.tcp_url()};
    client on_cluster{executor, cluster.url()};
    co_await on_plain.ready();
    co_await on_cluster.ready();
    auto const floor = on_plain.lock("cluster:pair");
    auto const ours = on_cluster.lock("cluster:pair");
    constexpr int pairs = 300;
    co_await pair_time(floor, pairs);
    co_await pair_time(ours, pairs);
    auto const rounds = env.short_rounds();
    for (int round = 0; round < rounds; ++round) {
        env.progress(round, rounds);
        auto const f = co_await pair_time(floor, pairs);
        auto const o = co_await pair_time(ours, pairs);
        result.add(o, f);
    }
    co_await on_plain.shutdown();
    co_await on_cluster.shutdown();
}

asio::awaitable<void> measure_keys(environment& env, comparison& rate, comparison& cpu) {
    auto const executor = co_await asio::this_coro::executor;
    test::redis_cluster cluster{{.primaries = nodes}};
    client locks{executor, cluster.url()};
    co_await locks.ready();
    std::deque<bare_connection> connections;
    for (std::size_t i = 0; i < nodes; ++i) {
        connections.emplace_back(executor, cluster.node(i).tcp_port());
    }
    // As the library speaks to them.
    using detail::script_dialect;
    auto const spoken =
        test::server_major() >= 7 ? script_dialect::sharded : script_dialect::cluster;
    std::deque<bare_lock> bare;
    std::deque<lock> ours;
    for (int i = 0; i < coroutines; ++i) {
        auto const name = fmt::format("cluster:bare:{}", i);
        bare.emplace_back(connections.at(cluster.owner_of(name)), name, spoken);
        ours.push_back(locks.lock("cluster:ours:{}", i));
    }
    auto const pairs = env.amount(10, 3);
    // Ours first: it teaches the nodes the scripts.
    co_await pairs_of_each(ours, 1);
    co_await pairs_of_each(bare, 1);
    auto const rounds = env.short_rounds();
    for (int round = 0; round < rounds; ++round) {
        env.progress(round, rounds);
        auto const f = co_await pairs_of_each(bare, pairs);
        auto const o = co_await pairs_of_each(ours, pairs);
        rate.add(o.pairs_per_second, f.pairs_per_second);
        cpu.add(o.cpu_microseconds, f.cpu_microseconds);
    }
    co_await locks.shutdown();
}

}  // namespace

figures cluster(environment& env) {
    comparison result{"cluster", "us", {budget::kind::ratio_at_most, 1.10}};
    run(measure_pair(env, result));
    return {result.result("one node that has all slots, against a plain server, p50")};
}

figures cluster_keys(environment& env) {
    comparison rate{"cluster_keys", "pairs/s", {budget::kind::ratio_at_least, 0.88}};
    comparison cpu{"cluster_keys_cpu", "us CPU a pair", {}};
    run(measure_keys(env, rate, cpu));
    return {rate.result("three nodes"), cpu.result()};
}

}  // namespace holdfast::bench
