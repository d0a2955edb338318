// How long is the server busy with a pair? Against the two plainest scripts that could be a lock.
// The same client sends both: what a client leaves of the processor's caches is no work of the
// server.
#include "core/holder_id.hpp"
#include "protocol/scripts.hpp"
#include "questions/questions.hpp"
#include "support/bare.hpp"
#include "support/bare_lock.hpp"
#include "support/run.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::bench {

namespace {

constexpr auto plain_acquire = "return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])";
constexpr auto plain_release =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

struct plain_lock {
    bare_caller caller;
    std::string acquire_sha1;
    std::string release_sha1;
    std::uint64_t acquired = 0;
};

asio::awaitable<void> ours(bare_lock& on, int pairs) {
    for (int i = 0; i < pairs; ++i) {
        co_await on.acquire();
        co_await on.release();
    }
}

asio::awaitable<void> plain(plain_lock& on, int pairs) {
    for (int i = 0; i < pairs; ++i) {
        // A holder id is used once, or a late release would free the lock of the next holder.
        auto const holder =
            detail::holder_id{"6ba7b810-9dad-11d1-80b4-00c04fd430c8", ~on.acquired++};
        std::array const acquire{
            std::string_view{"1"},
            std::string_view{"server_time:plain"},
            holder.view(),
            std::string_view{"30000"},
        };
        std::array const release{
            std::string_view{"1"},
            std::string_view{"server_time:plain"},
            holder.view(),
        };
        co_await on.caller.call(on.acquire_sha1, acquire);
        co_await on.caller.call(on.release_sha1, release);
    }
}

asio::awaitable<void> measure(environment& env, comparison& result) {
    auto const executor = co_await asio::this_coro::executor;
    bare_connection connection{executor, env.socket()};
    for (auto const* one : {&detail::scripts::lock_acquire, &detail::scripts::lock_release}) {
        env.probe().cmd("SCRIPT", "LOAD", one->text);
    }
    bare_lock lock{connection, "server_time:ours"};
    plain_lock bare{
        bare_caller{connection},
        env.probe().cmd("SCRIPT", "LOAD", plain_acquire).as_string(),
        env.probe().cmd("SCRIPT", "LOAD", plain_release).as_string(),
    };

    constexpr int pairs = 300;
    co_await ours(lock, pairs);
    co_await plain(bare, pairs);
    auto const rounds = env.short_rounds();
    for (int round = 0; round < rounds; ++round) {
        env.progress(round, rounds);
        auto const start = env.script_microseconds();
        co_await plain(bare, pairs);
        auto const middle = env.script_microseconds();
        co_await ours(lock, pairs);
        auto const end = env.script_microseconds();
        result.add(
            static_cast<double>(end - middle) / pairs,
            static_cast<double>(middle - start) / pairs
        );
    }
}

}  // namespace

figures server_time(environment& env) {
    comparison result{"server_time", "us a pair", {budget::kind::ratio_at_most, 2.1}};
    run(measure(env, result));
    return {result.result("INFO commandstats")};
}

}  // namespace holdfast::bench
