#include "cli/hand_over_trial.hpp"

#include "runtime/runtime.hpp"

#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/lock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace holdfast::cli {

namespace asio = boost::asio;

namespace {

using namespace std::chrono_literals;

constexpr auto as_result = asio::as_tuple(asio::deferred);
constexpr auto patience = 5s;

/// An acquisition that is under way. What it comes to may be told after nobody asks any more.
struct waiting {
    explicit waiting(asio::any_io_executor const& executor) : over{executor} {
        detail::sleep_until(over, lease_clock::time_point::max());
    }

    // Cancelled when it is over.
    detail::timer over;
    bool done = false;
    error_code cause;
    lease got;
    lease_clock::time_point at;
};

std::shared_ptr<waiting> start_waiting(asio::any_io_executor const& executor, lock& on) {
    auto const made = std::make_shared<waiting>(executor);
    on.try_acquire_for(patience, [made](error_code ec, lease got) {
        made->at = lease_clock::now();
        made->cause = ec;
        made->got = std::move(got);
        made->done = true;
        made->over.cancel();
    });
    return made;
}

/// Until the other client waits in the server's queue, or has been refused for a while: it need not
/// be allowed to queue.
asio::awaitable<void> let_it_wait(lock& held, client& other, std::uint64_t refusals_before) {
    auto const executor = co_await asio::this_coro::executor;
    detail::timer pause{executor};
    auto const begin = lease_clock::now();
    for (;;) {
        auto looking = held.inspect(as_result);
        auto const [ec, seen] = co_await std::move(looking);
        auto const waited = lease_clock::now() - begin;
        bool const refused = other.stats().refusals > refusals_before;
        if ((!ec && seen.waiting_clients > 0) || (refused && waited > 200ms) || waited > patience) {
            co_return;
        }
        pause.expires_after(1ms);
        auto pausing = pause.async_wait(as_result);
        co_await std::move(pausing);
    }
}

config settings_for_trial(config settings, std::string& remarks) {
    settings.observer = {};
    settings.fence_ttl = 24h;
    settings.lock_delay = 0ms;
    settings.shutdown_timeout = 1s;
    settings.log = [&remarks](log_level level, std::string_view line) {
        if (level != log_level::info && remarks.find(line) == std::string::npos) {
            remarks.append(remarks.empty() ? "" : "; ").append(line);
        }
    };
    return settings;
}

asio::awaitable<void> run_trial(
    std::array<client, 2>& clients,
    std::string const& name,
    hand_over_trial& out
) {
    auto const executor = co_await asio::this_coro::executor;
    std::array<lock, 2> locks{clients[0].lock(name), clients[1].lock(name)};
    out.step = "a lock was not granted";
    auto acquiring = locks[0].try_acquire_for(patience, as_result);
    auto [ec, held] = co_await std::move(acquiring);
    out.cause = ec ? ec : held ? error_code{} : make_error_code(errc::unreachable);
    // The first rounds connect and subscribe.
    constexpr std::size_t rounds = 7;
    std::array<std::chrono::nanoseconds, rounds> took{};
    for (std::size_t round = 0; round < rounds && !out.cause; ++round) {
        auto& other = clients[(round + 1) % 2];
        auto const before = other.stats().refusals;
        out.step = "a client that waited did not get the lock";
        auto const next = start_waiting(executor, locks[(round + 1) % 2]);
        auto letting = let_it_wait(locks[round % 2], other, before);
        co_await std::move(letting);
        auto const released_at = lease_clock::now();
        auto releasing = held.release(as_result);
        auto const [failed] = co_await std::move(releasing);
        while (!next->done) {
            auto wait = next->over.async_wait(as_result);
            co_await std::move(wait);
        }
        if (failed) {
            out.step = "a release failed";
        }
        out.cause = failed        ? failed
                    : next->cause ? next->cause
                    : next->got   ? error_code{}
                                  : make_error_code(errc::unreachable);
        held = std::move(next->got);
        took[round] = next->at - released_at;
    }
    if (held) {
        auto releasing = held.release(as_result);
        co_await std::move(releasing);
    }
    if (!out.cause) {
        auto* const middle = took.begin() + rounds / 2;
        std::nth_element(took.begin(), middle, took.end());
        out.took = *middle;
    }
}

}  // namespace

asio::awaitable<hand_over_trial> try_hand_over(config const& settings, std::string name) {
    auto const executor = co_await asio::this_coro::executor;
    hand_over_trial tried;
    {
        auto const own = settings_for_trial(settings, tried.remarks);
        std::array<client, 2> clients{client{executor, own}, client{executor, own}};
        auto running = run_trial(clients, name, tried);
        co_await std::move(running);
        for (auto& one : clients) {
            auto stopping = one.shutdown(as_result);
            co_await std::move(stopping);
        }
    }
    co_return tried;
}

finding check_hand_over(
    hand_over_trial const& tried,
    std::optional<std::chrono::nanoseconds> round_trip
) {
    auto const* const check = "hand-over";
    if (!tried.took) {
        auto const hint =
            tried.cause == errc::no_permission
                ? "allow the user what the finding on rights says; on a Redis Cluster +ssubscribe "
                  "and +sunsubscribe, too"
                : "see the other findings; if there are none, look at the server's log";
        auto const said = tried.remarks.empty() ? std::string{} : " (" + tried.remarks + ")";
        return fault(check, fmt::format("{}: {}{}", tried.step, tried.cause.message(), said), hint);
    }
    auto const millis = std::chrono::duration<double, std::milli>{*tried.took}.count();
    auto const text = fmt::format("{:.2f} ms from release to grant between two clients", millis);
    // A hand-over is a request and a message: a round trip, and what the machines make of it.
    auto const expected = round_trip.value_or(0ns) * 5 + 20ms;
    if (*tried.took > expected) {
        return warning(
            check,
            text,
            "notifications are late: look for slow commands with SLOWLOG GET and LATENCY DOCTOR, "
            "and at the rights for channels"
        );
    }
    return good(check, text);
}

}  // namespace holdfast::cli
