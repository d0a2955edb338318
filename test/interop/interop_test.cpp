// Every check of every primitive, with each version of Redisson, for each side that begins.

#include "interop/checks.hpp"
#include "interop/scoreboard.hpp"

#include <boost/asio/detached.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <algorithm>
#include <deque>
#include <optional>

using namespace holdfast::test;
namespace data = boost::unit_test::data;

namespace {

struct row {
    primitive const& kind;
    check const& what;
    situation in;
    bool done = false;
};

bool begins_with(check const& one, party who) {
    return one.who == begins::both || (one.who == begins::ours) == (who == party::ours);
}

task run(row& one) {
    try {
        co_await one.what.run(one.in);
    } catch (std::exception const& e) {
        one.in.failures.emplace_back(e.what());
    }
    one.done = true;
}

void judge(row& one) {
    if (!one.done) {
        one.in.failures.emplace_back("it did not end");
    }
    auto const title = one.kind.name + " " + one.in.version + ", " +
                       std::string{to_string(one.in.holds)} + ", " + std::string{one.what.name};
    for (auto const& failure : one.in.failures) {
        BOOST_ERROR(title + ": " + failure);
    }
    scoreboard::of_this_run().add(
        {one.kind.name, one.in.version, std::string{to_string(one.in.holds)}},
        one.in.failures.empty()
    );
}

holdfast::config told_only(redis_server const& server) {
    auto settings = holdfast::parse_url(server.tcp_url());
    // Who waits is woken by a message, or not at all.
    settings.fallback_poll_interval = 1h;
    settings.waiter_patience = 60s;  // it asks every 15 s
    settings.fence_ttl = holdfast::config::never;
    return settings;
}

// Most checks wait most of the time, so many of them wait together. Some start a JVM to kill it:
// with all at once two processors would be too slow for leases that are renewed.
constexpr std::size_t most_at_a_time = 50;

task run_all(redis_server& server, asio::any_io_executor executor, std::string version) {
    auto const primitives = all_primitives();
    holdfast::client ours{executor, told_only(server)};
    holdfast::client usual{executor, server.tcp_url()};
    java_peer java{{.version = version, .port = server.tcp_port(), .watchdog = renewed_lease}};
    co_await java.ready();
    co_await ours.ready();
    co_await usual.ready();
    std::deque<row> rows;
    for (auto const& kind : primitives) {
        for (auto const& what : kind.checks) {
            for (auto const who : {party::ours, party::java}) {
                if (begins_with(what, who)) {
                    auto const key = kind.name + std::to_string(rows.size());
                    rows.push_back(
                        {kind,
                         what,
                         {server,
                          ours,
                          usual,
                          java,
                          executor,
                          version,
                          who,
                          kind,
                          key,
                          server.probe()}}
                    );
                }
            }
        }
    }
    std::size_t started = 0;
    for (auto& one : rows) {
        auto const there_is_room = [&] {
            auto const first = rows.begin();
            auto const done = std::count_if(
                first,
                first + static_cast<std::ptrdiff_t>(started),
                [](row const& each) { return each.done; }
            );
            return started - static_cast<std::size_t>(done) < most_at_a_time;
        };
        co_await co_eventually(60s, there_is_room);
        asio::co_spawn(executor, run(one), asio::detached);
        ++started;
    }
    auto const all_done = [&] { return std::ranges::all_of(rows, &row::done); };
    co_await co_eventually(120s, all_done);
    for (auto& one : rows) {
        judge(one);
    }
    // What a check that failed has left waiting refers to its row.
    java.kill();
    co_await ours.shutdown();
    co_await usual.shutdown();
    auto const nothing_left = [&] {
        return all_done() &&
               std::ranges::all_of(rows, [](row const& one) { return one.in.under_way == 0; });
    };
    BOOST_REQUIRE(co_await co_eventually(30s, nothing_left));
}

}  // namespace

BOOST_DATA_TEST_CASE(checks, data::make(redisson_versions()), version) {
    auto const with_version = [&](redis_server& server, asio::any_io_executor executor) {
        return run_all(server, executor, version);
    };
    with_server({.tcp = true}, with_version, 170s);
}
