#include "jobs/jobs.hpp"
#include "support/bare_lock.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

namespace holdfast::bench {

namespace {

asio::awaitable<void> ours(pairs_options const& options) {
    client locks{co_await asio::this_coro::executor, "unix://" + options.socket};
    co_await locks.ready();
    auto const lock = locks.lock(options.name);
    for (int i = 0; i < options.pairs; ++i) {
        auto lease = co_await lock.acquire();
        co_await lease.release();
    }
    co_await locks.shutdown();
}

asio::awaitable<void> bare(pairs_options const& options) {
    bare_connection connection{co_await asio::this_coro::executor, options.socket};
    bare_lock lock{connection, options.name};
    for (int i = 0; i < options.pairs; ++i) {
        co_await lock.acquire();
        co_await lock.release();
    }
}

}  // namespace

void pairs(pairs_options const& options) {
    run(options.bare ? bare(options) : ours(options));
}

}  // namespace holdfast::bench
