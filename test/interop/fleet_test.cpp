// Processes of both languages that take one lock in turns, thousands of times.

#include "interop/fleet.hpp"

#include "interop/checks.hpp"
#include "interop/scoreboard.hpp"
#include "support/child_process.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <future>
#include <stdexcept>

using namespace holdfast::test;

namespace {

// Who was not told of a release comes when the lease would have ended, after 30 s.
constexpr std::chrono::seconds not_told{5};

struct fleet_plan {
    std::string name;
    int threads;  // of each process
    std::size_t hand_overs;
    int hold_us;
    int pause_us;
};

struct fleet {
    redis_server& server;
    primitive kind;
    fleet_plan plan;
    fleet_record record;
};

std::string words_of(
    fleet const& in,
    std::string const& lock,
    milliseconds limit,
    std::size_t last
) {
    auto const number = [](auto count) { return " " + std::to_string(count); };
    return lock + " number-" + lock + number(in.plan.threads) + number(limit.count()) +
           number(last) + number(in.plan.hold_us) + number(in.plan.pause_us);
}

std::vector<std::string> contend_here(fleet const& in, std::string const& words) {
    std::vector<std::string> command{HOLDFAST_TEST_CONTENDER, std::to_string(in.server.tcp_port())};
    for (std::size_t from = 0; from < words.size();) {
        auto const to = std::min(words.find(' ', from), words.size());
        command.push_back(words.substr(from, to - from));
        from = to + 1;
    }
    if (in.kind.is_fair) {
        command.emplace_back("fair");
    }
    child_process process{command};
    std::vector<std::string> lines;
    while (auto const line = process.read_line(10min)) {
        lines.push_back(*line);
    }
    if (process.wait() != 0) {
        throw std::runtime_error{"a process of ours failed"};
    }
    return lines;
}

void take(
    fleet& in,
    std::string language,
    std::string name,
    std::vector<std::string> const& lines
) {
    auto const who = name;
    auto const process = in.record.add_process(std::move(language), std::move(name));
    for (auto const& line : lines) {
        in.record.take(process, line);
        if (line.starts_with("stats ")) {
            std::printf(
                "  %s was granted what it waited for by: %s\n",
                who.c_str(),
                line.substr(6).c_str()
            );
        }
    }
}

task contend(fleet& in) {
    auto const executor = co_await asio::this_coro::executor;
    std::deque<java_peer> peers;
    for (auto const& version : redisson_versions()) {
        peers.emplace_back(java_peer_options{
            .version = version,
            .port = in.server.tcp_port(),
            .brief = !in_full(),
        });
    }
    for (auto& peer : peers) {
        co_await peer.ready();
        // Alone, so that the code is compiled when the others come.
        auto const alone = words_of(in, "warm-up", in_full() ? 5'000ms : 300ms, 1'000'000);
        auto const command = in.kind.name + ".contend " + alone;
        co_await peer.tell("main", command);
    }
    auto const words = words_of(in, "contested", 9min, in.plan.hand_overs);
    auto const command = in.kind.name + ".contend " + words;
    std::vector<std::shared_ptr<outcome<java_peer::answer>>> java;
    for (auto& peer : peers) {
        java.push_back(start(executor, peer.ask("main", command)));
    }
    std::vector<std::future<std::vector<std::string>>> ours;
    for (int i = 0; i < 2; ++i) {
        ours.push_back(std::async(std::launch::async, [&] { return contend_here(in, words); }));
    }
    auto const all_done = [&] {
        return std::ranges::all_of(java, [](auto const& one) { return one->done; }) &&
               std::ranges::all_of(ours, [](auto const& one) {
                   return one.wait_for(0s) == std::future_status::ready;
               });
    };
    BOOST_REQUIRE(co_await co_eventually(9min, all_done));
    for (std::size_t i = 0; i < peers.size(); ++i) {
        auto const version = redisson_versions()[i];
        BOOST_REQUIRE_MESSAGE(java[i]->value.ok, java[i]->value.text);
        auto lines = java[i]->value.lines;
        auto const pauses = co_await peers[i].ask("main", "pauses");
        lines.insert(lines.end(), pauses.lines.begin(), pauses.lines.end());
        take(in, "Java", "Redisson " + version, lines);
    }
    for (std::size_t i = 0; i < ours.size(); ++i) {
        auto const lines = ours[i].get();
        take(in, "C++", "holdfast " + std::to_string(i + 1), lines);
    }
}

void run_fleet(fleet_plan const& plan, primitive const& kind = lock_primitive()) {
    redis_server server{{.tcp = true}};
    fleet in{server, kind, plan, {}};
    std::printf("a mixed fleet with %s, %s:\n", kind.name.c_str(), plan.name.c_str());
    run_with_deadline([&](asio::any_io_executor) { return contend(in); }, 10min);
    in.record.sort();
    std::printf("%s", in.record.describe().c_str());
    std::fflush(stdout);

    holdfast::history::rules by;
    by.lease = 30s;
    by.hand_over_within = not_told;
    // Redisson's fair lock has none.
    by.tokens = !kind.is_fair;
    // With a fair lock, each waits for the turns of the others only.
    by.grant_within = kind.is_fair ? nanoseconds{not_told} : nanoseconds{10min};
    auto const broken = holdfast::history::broken_by(in.record.turns(), by);
    for (std::size_t i = 0; i < std::min<std::size_t>(broken.size(), 10); ++i) {
        BOOST_ERROR(broken[i]);
    }
    BOOST_TEST(in.record.turns().size() >= plan.hand_overs);
    auto const times = in.record.hand_overs();
    BOOST_REQUIRE(times.size() > plan.hand_overs / 4);
    scoreboard::of_this_run().add({in.kind.name, "both", "mixed fleet"}, broken.empty());
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_mixed_fleet_with_pauses) {
    run_fleet({
        .name = "with pauses",
        .threads = 3,
        .hand_overs = in_full() ? 10'000U : 400U,
        .hold_us = 500,
        .pause_us = 4'000,
    });
}

BOOST_AUTO_TEST_CASE(a_mixed_fleet_without_pauses) {
    run_fleet({
        .name = "without pauses",
        .threads = 3,
        .hand_overs = in_full() ? 10'000U : 800U,
        .hold_us = 0,
        .pause_us = 0,
    });
}

BOOST_AUTO_TEST_CASE(a_mixed_fleet_with_a_fair_lock) {
    run_fleet(
        {
            .name = "with pauses",
            .threads = 3,
            .hand_overs = in_full() ? 10'000U : 400U,
            .hold_us = 500,
            .pause_us = 4'000,
        },
        fair_lock_primitive()
    );
}
