#include "cli/bench.hpp"

#include "cli/duration.hpp"
#include "cli/exit_code.hpp"
#include "cli/json.hpp"
#include "cli/messages.hpp"
#include "runtime/runtime.hpp"

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/object.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>

namespace holdfast::cli {

namespace asio = boost::asio;

namespace {

// What the tasks share. It lives until the last of them has ended.
struct bench_run {
    holdfast::client& client;
    lease_clock::time_point end;
    std::vector<std::chrono::nanoseconds> times = {};
    error_code failure = {};
    std::int64_t running = 0;
};

asio::awaitable<void> lock_until_the_end(bench_run& run, holdfast::lock const lock) {
    while (!run.failure) {
        auto const begin = lease_clock::now();
        if (begin >= run.end) {
            break;
        }
        error_code ec;
        auto acquiring = lock.acquire(asio::redirect_error(asio::use_awaitable, ec));
        auto lease = co_await std::move(acquiring);
        if (!ec) {
            auto releasing = lease.release(asio::redirect_error(asio::use_awaitable, ec));
            co_await std::move(releasing);
        }
        if (ec) {
            run.failure = ec;
        } else {
            run.times.push_back(lease_clock::now() - begin);
        }
    }
}

asio::awaitable<void> all_ended(bench_run& run, detail::timer& last) {
    while (run.running > 0) {
        error_code ignored;
        last.expires_at(detail::timer::time_point::max());
        auto waiting = last.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        co_await std::move(waiting);
    }
}

void report(context const& on, bench_options const& options, bench_figures const& found) {
    auto const microseconds = [](std::chrono::nanoseconds time) {
        return static_cast<double>(time.count()) / 1e3;
    };
    if (on.json) {
        boost::json::object const line{
            {"tasks", options.tasks},
            {"contended", options.contended},
            {"pairs", found.pairs},
            {"pairs_per_second", found.pairs_per_second},
            {"p50_us", microseconds(found.median)},
            {"p99_us", microseconds(found.p99)},
            {"max_us", microseconds(found.longest)},
        };
        print_json(on.out, line);
        return;
    }
    on.out << fmt::format(
                  "{} pairs of acquire and release, {:.0f} a second\n"
                  "p50 {}  p99 {}  max {}\n",
                  found.pairs,
                  found.pairs_per_second,
                  format_duration(found.median),
                  format_duration(found.p99),
                  format_duration(found.longest)
              )
           << std::flush;
}

}  // namespace

bench_figures figures_of(std::vector<std::chrono::nanoseconds> times, std::chrono::nanoseconds in) {
    bench_figures found;
    if (times.empty() || in.count() <= 0) {
        return found;
    }
    std::ranges::sort(times);
    auto const at = [&times](std::size_t hundredths) {
        return times[std::min(times.size() - 1, times.size() * hundredths / 100)];
    };
    found.pairs = times.size();
    found.pairs_per_second =
        static_cast<double>(times.size()) / std::chrono::duration<double>{in}.count();
    found.median = at(50);
    found.p99 = at(99);
    found.longest = times.back();
    return found;
}

asio::awaitable<int> bench(context const& on, bench_options const& options) {
    auto const executor = co_await asio::this_coro::executor;
    holdfast::client client{executor, on.config};
    auto const own = fmt::format("{}:{:016x}", options.name, detail::random_from_system());
    // Connects, and shows whether there is a server.
    error_code ec;
    auto trying = client.lock(own).try_acquire(asio::redirect_error(asio::use_awaitable, ec));
    static_cast<void>(co_await std::move(trying));

    auto const begin = lease_clock::now();
    bench_run run{.client = client, .end = begin + options.duration, .failure = ec};
    detail::timer last{executor};
    for (std::int64_t i = 0; i < options.tasks && !ec; ++i) {
        auto lock = options.contended ? client.lock(own) : client.lock("{}:{}", own, i);
        ++run.running;
        auto const ended = [&run, &last](std::exception_ptr) {
            --run.running;
            last.cancel();
        };
        asio::co_spawn(executor, lock_until_the_end(run, std::move(lock)), ended);
    }
    co_await all_ended(run, last);
    if (run.failure) {
        say(on, fmt::format("cannot measure: {}", run.failure.message()));
        co_return to_int(exit_code_of(run.failure));
    }
    report(on, options, figures_of(std::move(run.times), lease_clock::now() - begin));
    co_return to_int(exit_code::success);
}

}  // namespace holdfast::cli
