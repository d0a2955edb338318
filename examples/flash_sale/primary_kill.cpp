#include "primary_kill.hpp"

#include "buyers.hpp"
#include "processes.hpp"
#include "store.hpp"

#include <holdfast/config.hpp>

#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace flash_sale {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

child_process ask(holdfast::config::address const& server, std::vector<std::string> const& words) {
    std::vector<std::string>
        command{"redis-cli", "-c", "-h", server.host, "-p", std::to_string(server.port)};
    command.insert(command.end(), words.begin(), words.end());
    return child_process{std::move(command)};
}

holdfast::config::address find_server(holdfast::config const& locks) {
    if (locks.sentinels.empty()) {
        return locks.cluster_nodes.at(0);
    }
    auto answer =
        ask(locks.sentinels.at(0), {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", locks.primary_name});
    auto const host = answer.read_line();
    auto const port = answer.read_line();
    return {host, static_cast<std::uint16_t>(std::stoul(port))};
}

// The process of the server that has the lock. A node of a cluster sends redis-cli to the one that
// has the lock's slot, because the script names the lock as its key.
pid_t find_primary(holdfast::config const& locks) {
    auto answer =
        ask(find_server(locks),
            {"EVAL", "return redis.call('INFO', 'server')", "1", std::string{lock_name}});
    constexpr std::string_view field = "process_id:";
    for (;;) {
        auto const line = answer.read_line();
        if (line.starts_with(field)) {
            return static_cast<pid_t>(std::stol(line.substr(field.size())));
        }
    }
}

}  // namespace

asio::awaitable<void> kill_the_primary(
    std::shared_ptr<sale_floor> floor,
    std::string_view redis_url,
    std::string_view locks_url,
    std::int64_t items
) {
    auto const executor = co_await asio::this_coro::executor;
    store watched{executor, redis_url};
    auto const primary = find_primary(holdfast::parse_url(locks_url));

    auto const half = static_cast<std::uint64_t>(items) / 2;
    while (floor->bought < half) {
        co_await pause_for(5ms);
    }
    if (::kill(primary, SIGKILL) != 0) {
        throw std::system_error{errno, std::generic_category(), "kill the locks' primary"};
    }
    auto last_sale = steady_clock::now();
    fmt::print("  the locks' primary was killed\n");
    std::fflush(stdout);

    // Now the buyers may buy the rest. Whoever held the lock may still record its sale.
    floor->wait_at = std::numeric_limits<std::uint64_t>::max();
    failover_report report;
    for (auto sold = std::int64_t{0}; sold < items;) {
        co_await pause_for(5ms);
        auto const state = co_await watched.look();
        auto const now = steady_clock::now();
        if (state.sold > sold) {
            report.stood_still = std::max(report.stood_still, {now - last_sale});
            sold = state.sold;
            last_sale = now;
        }
        if (now > last_sale + answer_limit) {
            throw std::runtime_error{"the sale did not go on after the locks' primary was killed"};
        }
    }
    floor->failed_over = report;
}

}  // namespace flash_sale
