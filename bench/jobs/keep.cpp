#include "jobs/jobs.hpp"
#include "support/bare_lock.hpp"
#include "support/measure.hpp"
#include "support/redis_probe.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace holdfast::bench {

namespace {

using std::chrono::milliseconds;

// Acquired side by side, but not all at once: what a thousand coroutines need for a moment is not
// what a lease takes.
constexpr int acquirers = 20;

struct kept {
    double bytes = 0.0;     // a lease
    double share = 0.0;     // of a core
    double commands = 0.0;  // for 50 renewals
    std::uint64_t late = 0;
    std::uint64_t lost = 0;
    std::int64_t scripts_after = 0;
};

std::int64_t scripts_sent(test::redis_probe& probe) {
    auto calls = probe.commandstats();
    return calls["evalsha"] + calls["eval"];
}

// Watches a window in which nothing but renewals happens.
asio::awaitable<double> renewing_share(keep_options const& options) {
    auto const cpu = process_cpu_seconds();
    auto const start = clock::now();
    co_await sleep_for(milliseconds{options.window_ms});
    co_return (process_cpu_seconds() - cpu) / seconds_since(start);
}

asio::awaitable<void> acquire_one(lock from, lease& held) {
    held = co_await from.acquire();
}

asio::awaitable<void> acquire_some(
    client const& locks,
    keep_options const& options,
    int first,
    std::vector<lease>& held
) {
    auto const executor = co_await asio::this_coro::executor;
    auto& context = static_cast<asio::io_context&>(executor.context());
    for (int i = first; i < options.leases; i += acquirers) {
        auto const lock = locks.lock("{}:{}", options.name, i);
        auto& place = held[static_cast<std::size_t>(i)];
        auto acquired = acquire_one(lock, place);
        if (options.strands) {
            auto const strand = asio::make_strand(context);
            co_await asio::co_spawn(strand, std::move(acquired), asio::use_awaitable);
        } else {
            co_await std::move(acquired);
        }
    }
}

// Looks at each deadline more often than it moves: it moves as far as lies between the sending of
// two renewals.
asio::awaitable<std::uint64_t> count_late(
    keep_options const& options,
    std::vector<lease> const& held
) {
    constexpr int looks = 6;
    struct seen {
        lease_clock::time_point deadline;
        int at = 0;
    };
    std::vector<seen> last;
    last.reserve(held.size());
    for (auto const& one : held) {
        last.push_back({one.deadline()});
    }
    std::uint64_t late = 0;
    milliseconds const half{options.lease_ms / 2};
    for (int look = 1; look <= looks; ++look) {
        co_await sleep_for(milliseconds{options.lease_ms} / looks);
        for (std::size_t i = 0; i < held.size(); ++i) {
            auto const now = held[i].deadline();
            if (now != last[i].deadline) {
                late += now - last[i].deadline > half ? 1 : 0;
                last[i] = {now, look};
            }
        }
    }
    co_return late +
        static_cast<std::uint64_t>(std::count_if(last.begin(), last.end(), [](seen const& one) {
            return looks - one.at > looks / 2;
        }));
}

asio::awaitable<void> release_some(int first, std::vector<lease>& held) {
    for (auto i = static_cast<std::size_t>(first); i < held.size(); i += acquirers) {
        co_await held[i].release();
    }
}

asio::awaitable<void> ours(keep_options const& options, kept& result) {
    auto const executor = co_await asio::this_coro::executor;
    auto settings = parse_url("unix://" + options.socket);
    settings.lease = milliseconds{options.lease_ms};
    client locks{executor, settings};
    co_await locks.ready();
    test::redis_probe probe{options.socket};

    auto const before = resident_bytes();
    std::vector<lease> held(static_cast<std::size_t>(options.leases));
    task_group acquiring{executor};
    for (int i = 0; i < acquirers; ++i) {
        acquiring.spawn(acquire_some(locks, options, i, held));
    }
    co_await acquiring.join();
    auto const at_first = locks.stats();
    result.share = co_await renewing_share(options);
    auto const at_last = locks.stats();
    result.commands = 50.0 * static_cast<double>(at_last.commands - at_first.commands) /
                      static_cast<double>(at_last.renewals - at_first.renewals);
    result.bytes = static_cast<double>(resident_bytes() - before) / options.leases;
    result.late = co_await count_late(options, held);
    result.lost = static_cast<std::uint64_t>(
        std::count_if(held.begin(), held.end(), [](lease const& l) { return !l.valid(); })
    );

    task_group releasing{executor};
    for (int i = 0; i < acquirers; ++i) {
        releasing.spawn(release_some(i, held));
    }
    co_await releasing.join();
    auto const sent = scripts_sent(probe);
    co_await sleep_for(milliseconds{options.lease_ms / 2});  // every renewal would be due
    result.scripts_after = scripts_sent(probe) - sent;
    co_await locks.shutdown();
}

struct bare_lease {
    bare_lease(bare_connection& connection, keep_options const& options, int i)
        : lock{connection, fmt::format("{}:{}", options.name, i), milliseconds{options.lease_ms}},
          due{connection.get().get_executor()} {}

    bare_lock lock;
    asio::steady_timer due;
    bool done = false;
};

asio::awaitable<void> renew_until_done(bare_lease& held, keep_options const& options) {
    while (!held.done) {
        held.due.expires_after(milliseconds{options.lease_ms / 3});
        boost::system::error_code ec;
        co_await held.due.async_wait(asio::redirect_error(asio::use_awaitable, ec));
        if (!held.done) {
            co_await held.lock.renew();
        }
    }
    co_await held.lock.release();
}

// A lease of its own making: a key, a timer, and a coroutine that renews.
asio::awaitable<void> bare(keep_options const& options, kept& result) {
    auto const executor = co_await asio::this_coro::executor;
    bare_connection connection{executor, options.socket};
    bare_lock warm_up{connection, options.name};
    co_await warm_up.acquire();
    co_await warm_up.release();

    auto const before = resident_bytes();
    std::vector<std::unique_ptr<bare_lease>> held;
    task_group renewing{executor};
    for (int i = 0; i < options.leases; ++i) {
        held.push_back(std::make_unique<bare_lease>(connection, options, i));
        co_await held.back()->lock.acquire();
        renewing.spawn(renew_until_done(*held.back(), options));
    }
    result.share = co_await renewing_share(options);
    result.commands = 50.0;
    result.bytes = static_cast<double>(resident_bytes() - before) / options.leases;
    for (auto const& h : held) {
        h->done = true;
        h->due.cancel();
    }
    co_await renewing.join();
}

}  // namespace

void keep(keep_options const& options) {
    kept result;
    run(options.bare ? bare(options, result) : ours(options, result));
    fmt::print(
        "{} {} {} {} {} {}\n",
        result.bytes,
        result.share,
        result.commands,
        result.late,
        result.lost,
        result.scripts_after
    );
}

}  // namespace holdfast::bench
