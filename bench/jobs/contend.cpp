#include "jobs/jobs.hpp"
#include "support/bare_lock.hpp"
#include "support/bare_notifications.hpp"
#include "support/measure.hpp"
#include "support/run.hpp"

#include <holdfast.hpp>

#include <fmt/format.h>

#include <memory>
#include <vector>

namespace holdfast::bench {

namespace {

struct turn {
    std::uint64_t token = 0;
    std::int64_t called = 0;
    std::int64_t granted = 0;
    std::int64_t releasing = 0;
};

using turns = std::vector<turn>;

clock::time_point start_of(contend_options const& options) {
    return clock::time_point{std::chrono::nanoseconds{options.start_at}};
}

clock::time_point end_of(contend_options const& options) {
    return start_of(options) + std::chrono::milliseconds{options.duration_ms};
}

asio::awaitable<void> pause(int microseconds) {
    if (microseconds > 0) {
        co_await sleep_for(std::chrono::microseconds{microseconds});
    }
}

// How one coroutine takes the lock and gives it back.
class contestant {
public:
    virtual ~contestant() = default;
    /// The token; 0 where there is none.
    virtual asio::awaitable<std::uint64_t> acquire() = 0;
    virtual asio::awaitable<void> release() = 0;
};

class our_contestant final : public contestant {
public:
    explicit our_contestant(lock on) : lock_{std::move(on)} {}

    asio::awaitable<std::uint64_t> acquire() override {
        lease_ = co_await lock_.acquire();
        co_return lease_.token().value;
    }
    asio::awaitable<void> release() override { co_await lease_.release(); }

private:
    lock lock_;
    lease lease_;
};

std::unique_ptr<bare_connection> connect(
    asio::any_io_executor const& executor,
    contend_options const& options
) {
    return options.port != 0 ? std::make_unique<bare_connection>(executor, options.port)
                             : std::make_unique<bare_connection>(executor, options.socket);
}

// Notify-then-try: the simplest lock that loses no wake-up. It stays subscribed and tries at each
// message.
class bare_contestant final : public contestant {
public:
    bare_contestant(asio::any_io_executor const& executor, contend_options const& options)
        : connection_{connect(executor, options)},
          notifications_{connect(executor, options)},
          lock_{*connection_, options.name} {}

    asio::awaitable<void> subscribe(std::string const& name) {
        return notifications_.subscribe(name);
    }
    asio::awaitable<std::uint64_t> acquire() override {
        for (;;) {
            notifications_.forget();
            if (auto const token = co_await lock_.acquire(); token != 0) {
                co_return token;
            }
            co_await notifications_.wait();
        }
    }
    asio::awaitable<void> release() override { return lock_.release(); }

private:
    std::unique_ptr<bare_connection> connection_;
    bare_notifications notifications_;
    bare_lock lock_;
};

asio::awaitable<void> take_turns(contend_options const& options, contestant& as, turns& done) {
    co_await sleep_until(start_of(options));
    while (clock::now() < end_of(options)) {
        turn now{};
        now.called = now_ns();
        now.token = co_await as.acquire();
        now.granted = now_ns();
        co_await pause(options.hold_us);
        now.releasing = now_ns();
        co_await as.release();
        done.push_back(now);
        co_await pause(options.pause_us);
    }
}

asio::awaitable<void> ours(contend_options const& options, turns& done) {
    auto const url = options.port != 0 ? fmt::format("redis://127.0.0.1:{}", options.port)
                                       : "unix://" + options.socket;
    auto settings = parse_url(url);
    settings.hand_over = options.kind != "first_version";
    client locks{co_await asio::this_coro::executor, settings};
    co_await locks.ready();
    std::vector<std::unique_ptr<contestant>> contestants;
    task_group group{co_await asio::this_coro::executor};
    for (int i = 0; i < options.coroutines; ++i) {
        contestants.push_back(std::make_unique<our_contestant>(locks.lock(options.name)));
        group.spawn(take_turns(options, *contestants.back(), done));
    }
    co_await group.join();
    co_await locks.shutdown();
}

asio::awaitable<void> bare(contend_options const& options, turns& done) {
    bare_contestant as{co_await asio::this_coro::executor, options};
    co_await as.subscribe(options.name);
    co_await take_turns(options, as, done);
}

}  // namespace

void contend(contend_options const& options) {
    turns done;
    // The last ones may have to wait for the others.
    auto const limit = std::chrono::seconds{options.duration_ms / 1000 + 60};
    auto const job = options.kind == "bare" ? bare : ours;
    run(job(options, done), limit);
    for (auto const& t : done) {
        fmt::print("{} {} {} {}\n", t.token, t.called, t.granted, t.releasing);
    }
}

}  // namespace holdfast::bench
