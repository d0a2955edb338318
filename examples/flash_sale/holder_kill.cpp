#include "holder_kill.hpp"

#include "buyers.hpp"
#include "store.hpp"

#include <holdfast/client.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>

#include <stdexcept>

namespace flash_sale {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

asio::awaitable<void> ask_to_hold(std::shared_ptr<sale_floor> floor, std::uint16_t port) {
    http_connection victim{co_await asio::this_coro::executor, port};
    auto const reply = co_await victim.send(http::verb::post, "/buy?hold=1", 2 * answer_limit);
    if (!reply) {
        ++floor->unanswered;
    }
}

asio::awaitable<lock_stats> wait_for_grant(http_connection& victim, std::uint64_t renewals) {
    auto const deadline = steady_clock::now() + answer_limit;
    while (steady_clock::now() < deadline) {
        auto const stats = co_await ask_stats(victim);
        if (stats && stats->holding != 0 && stats->renewals >= renewals) {
            co_return *stats;
        }
        co_await pause_for(10ms);
    }
    throw std::runtime_error{
        "the server that was to hold the lock did not get it, or did not renew it"
    };
}

// A stopped process cannot give the lock back: if it has the lock now, it still has it when it is
// killed.
asio::awaitable<bool> kill_if_holding(
    child_process& victim,
    holdfast::lock const& lock,
    std::uint64_t token
) {
    auto const before = co_await lock.inspect();
    victim.pause();
    auto const seen = co_await lock.inspect();
    if (!seen.held || seen.holder != before.holder || seen.last_token.value < token ||
        !seen.remaining || *seen.remaining < 200ms) {
        victim.resume();
        co_return false;
    }
    victim.kill();
    co_return true;
}

}  // namespace

asio::awaitable<void> kill_a_holder(
    std::shared_ptr<sale_floor> floor,
    std::shared_ptr<std::vector<server_process>> servers,
    std::string_view redis_url,
    std::uint64_t after
) {
    auto const executor = co_await asio::this_coro::executor;
    store watched{executor, redis_url};
    holdfast::client client{executor, redis_url};
    auto const lock = client.lock(lock_name);
    kill_report report{.server = servers->size() - 1, .stats = {}};
    auto& victim = (*servers)[report.server];

    while (floor->bought < after) {
        co_await pause_for(5ms);
    }
    asio::co_spawn(executor, ask_to_hold(floor, victim.port), asio::detached);
    http_connection connection{executor, victim.port};
    report.stats = co_await wait_for_grant(connection, 0);
    auto const grant = steady_clock::now();
    do {
        // A living holder keeps its lock, as the first renewal shows.
        report.stats = co_await wait_for_grant(connection, report.stats.renewals + 1);
    } while (!co_await kill_if_holding(victim.process, lock, report.stats.holding));
    auto const death = steady_clock::now();
    report.held = death - grant;
    auto const at_death = co_await watched.look();
    fmt::print("  server {} was killed while it held the lock\n", report.server + 1);

    // Now the others may buy the rest.
    floor->wait_at = std::numeric_limits<std::uint64_t>::max();
    for (;;) {
        auto const now = co_await watched.look();
        if (now.sold > at_death.sold) {
            break;
        }
        if (steady_clock::now() > death + answer_limit) {
            throw std::runtime_error{"the sale did not go on after a server had been killed"};
        }
        co_await pause_for(5ms);
    }
    report.stood_still = steady_clock::now() - death;
    floor->killed = report;
    co_await client.shutdown();
}

}  // namespace flash_sale
