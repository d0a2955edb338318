// The whole scenario while every byte comes by itself, and while they come in random fragments: no
// operation fails and no connection is lost.

#include "support/background.hpp"
#include "support/redis_server.hpp"
#include "support/run.hpp"
#include "wire/plan.hpp"
#include "wire/scenario.hpp"

#include <holdfast.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace holdfast::test;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

// While a request goes out in fragments, nothing comes in: that must not be taken for a failure.
// Byte by byte the text of a script takes seconds under a sanitizer, and more beside other
// programs.
#ifdef HOLDFAST_TEST_SANITIZER
constexpr auto timeout = 25s;
constexpr auto bound = 80s;
constexpr auto health_check_interval = 60s;
constexpr bool waits_for_health_checks = false;
#else
constexpr auto timeout = 15s;
constexpr auto bound = 40s;
constexpr auto health_check_interval = 4s;
constexpr bool waits_for_health_checks = true;
#endif

struct fragmentation {
    std::string name;
    fragments to_server;
    fragments to_client;
};

std::vector<fragmentation> all_fragmentations() {
    constexpr auto pause = 20us;
    constexpr fragments whole{};
    constexpr fragments bytes{.least = 1, .most = 1, .pause = pause};
    std::vector<fragmentation> all{
        {"every-request-byte-by-byte", bytes, whole},
        {"every-reply-byte-by-byte", whole, bytes},
    };
    if (full_run()) {
        all.push_back({"everything-byte-by-byte", bytes, bytes});
    }
    unsigned const count = full_run() ? 12 : 1;
    for (unsigned i = 0; i < count; ++i) {
        auto const seed = run_seed() + i;
        std::size_t const most = std::vector<std::size_t>{2, 5, 17, 60}[seed % 4];
        fragments const random{.least = 1, .most = most, .seed = seed | 1U, .pause = pause};
        all.push_back({fmt::format("random-{}-to-{}", seed, most), random, random});
    }
    return all;
}

holdfast::config settings_of(fault_router const& board, std::string const& name) {
    auto settings = holdfast::parse_url(board.url());
    settings.client_name = name;
    settings.lease = 120s;
    settings.fallback_poll_interval = 1h;
    settings.request_timeout = timeout;
    settings.connect_timeout = timeout;
    settings.health_check_interval = health_check_interval;
    return settings;
}

// Its messages come in other steps too.
bool brings_nothing_new(step const& what) {
    constexpr std::array<std::string_view, 8> names{
        "ping",
        "time",
        "server",
        "info",
        "ping for notifications",
        "unknown script",
        "script text at once",
        "dropped lease",
    };
    bool const is_health_check = what.message == message_kind::health;
    return std::find(names.begin(), names.end(), what.name) != names.end() ||
           (is_health_check && !waits_for_health_checks);
}

// What they share; each fragmentation has a client of its own.
struct fragment_run {
    explicit fragment_run(asio::any_io_executor const& executor)
        : rival{executor, settings_of(board, "rival")},
          on{executor, board, probe, rival, timeout, bound} {}

    asio::awaitable<void> run(asio::any_io_executor executor, fragmentation const& how) {
        auto const these = connections_that_sent("SETNAME " + how.name);
        board.proxy().fragment(direction::to_server, how.to_server, these);
        board.proxy().fragment(direction::to_client, how.to_client, these);
        holdfast::client client{executor, settings_of(board, how.name)};
        co_await client.ready(asio::use_awaitable);
        std::uint64_t reconnects = 0;
        co_await warm_up(client);
        for (auto const number : in_any_order(all_steps().size())) {
            auto const& each = all_steps()[number];
            if (brings_nothing_new(each)) {
                continue;
            }
            reconnects += each.message == message_kind::hello ? 1 : 0;
            auto const key = fmt::format("{}-{}", how.name, ++keys);
            auto const one =
                std::make_shared<exchange>(on, client, how.name, key, findings, each, std::nullopt);
            co_await one->run();
            ++steps;
        }
        BOOST_TEST(client.stats().reconnects == reconnects, how.name);
        BOOST_TEST(client.stats().failed_renewals == 0U, how.name);
        BOOST_TEST(client.stats().withdrawals == 0U, how.name);
        co_await client.shutdown(asio::use_awaitable);
    }

    redis_server server;
    fault_router board{server.unix_socket()};
    redis_probe probe = server.probe();
    std::shared_ptr<report> findings = std::make_shared<report>();
    holdfast::client rival;
    stage on;
    int keys = 0;
    int steps = 0;
};

}  // namespace

BOOST_AUTO_TEST_CASE(bytes_that_come_one_by_one_or_in_any_fragments) {
    auto const all = all_fragmentations();
    run_with_deadline(
        [&](asio::any_io_executor executor) -> asio::awaitable<void> {
            fragment_run run{executor};
            std::size_t ended = 0;
            for (auto const& how : all) {
                asio::co_spawn(executor, run.run(executor, how), [&](std::exception_ptr failure) {
                    BOOST_TEST(!failure);
                    ++ended;
                });
            }
            while (ended != all.size()) {
                co_await sleep_for(5ms);
            }
            std::cout << fmt::format(
                             "wire fragments: {} fragmentations, {} steps, {}",
                             all.size(),
                             run.steps,
                             run.findings->summary()
                         )
                      << std::endl;
            run.findings->check();
            BOOST_TEST(run.probe.lock_keys().empty());
        },
        run_limit()
    );
}
