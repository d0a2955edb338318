// A lock on five servers, two of which may be killed or stopped at any time, and come back empty or
// with their data. What it protects must never see two valid holders, or a token that does not
// grow; and with three servers gone nobody gets it.

#include "quorum/holder_record.hpp"
#include "support/child_process.hpp"
#include "support/node_group.hpp"
#include "support/scratch_file.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <random>
#include <string>
#include <vector>

using namespace holdfast::test;

namespace {

constexpr std::size_t nodes_count = 5;
constexpr std::size_t processes = 3;
// Leases are as long, and a server is left out for as long after its start.
constexpr std::chrono::milliseconds lease{1'000};

int disturbances() {
    auto const* const wanted = std::getenv("HOLDFAST_QUORUM");
    return wanted != nullptr ? std::stoi(wanted) : 16;
}

class workers {
public:
    workers(node_group& nodes, std::string const& record) {
        std::vector<std::string> arguments{HOLDFAST_QUORUM_WORKER, record};
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            arguments.push_back(nodes[i].url());
        }
        child_options options;
        options.standard_input = child_input::pipe;
        for (std::size_t i = 0; i < processes; ++i) {
            running_.emplace_back(arguments, options);
        }
    }
    void stop() {
        for (auto& one : running_) {
            one.close_input();
        }
        for (auto& one : running_) {
            BOOST_TEST(one.wait(30s) == 0);
        }
    }

private:
    std::deque<child_process> running_;
};

/// Disturbs servers, no more than two at a time.
class nemesis {
public:
    nemesis(node_group& nodes, unsigned seed) : nodes_{nodes}, dice_{seed} {}

    task disturb_one() {
        std::size_t which = 0;
        do {
            co_await sleep_for(20ms);
            end_what_is_over();
            which = dice_() % nodes_.size();
        } while (out() >= 2 || until_[which] > lease_clock::now() || stopped_[which]);
        auto const now = lease_clock::now();
        if (dice_() % 2 == 0) {
            nodes_[which].pause();
            stopped_[which] = true;
            until_[which] = now + std::chrono::milliseconds{50 + dice_() % 1'500};
            ++pauses;
            co_return;
        }
        nodes_[which].kill();
        co_await sleep_for(std::chrono::milliseconds{dice_() % 100});
        nodes_[which].restart(dice_() % 2 == 0);
        // It says for how many whole seconds it has been running.
        until_[which] = lease_clock::now() + lease + 2s;
        ++kills;
    }
    void end_all() {
        std::fill(until_.begin(), until_.end(), lease_clock::time_point::min());
        end_what_is_over();
    }
    bool quiet() {
        end_what_is_over();
        return out() == 0;
    }

    int kills = 0;
    int pauses = 0;

private:
    std::size_t out() const {
        auto const now = lease_clock::now();
        return static_cast<std::size_t>(std::count_if(until_.begin(), until_.end(), [now](auto at) {
            return at > now;
        }));
    }
    void end_what_is_over() {
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (stopped_[i] && until_[i] <= lease_clock::now()) {
                nodes_[i].resume();
                stopped_[i] = false;
            }
        }
    }

    node_group& nodes_;
    std::mt19937 dice_;
    std::array<lease_clock::time_point, nodes_count> until_{};
    std::array<bool, nodes_count> stopped_{};
};

// Those that were killed could grant the lock again at once, but for the time they are left out.
task without_a_majority(node_group& nodes, holder_record const& record, node_clients& clients) {
    for (auto const i : {0U, 2U, 4U}) {
        nodes[i].kill();
    }
    // A holder may have it until its lease ends.
    co_await sleep_for(lease);
    auto const before = record.read().entries;
    auto const start = lease_clock::now();
    auto const [ec, none] = co_await clients.lock("resource").try_acquire(as_result);
    BOOST_TEST((ec == errc::quorum_not_reached));
    BOOST_TEST((lease_clock::now() - start < 1s));
    co_await sleep_for(500ms);
    BOOST_TEST(record.read().entries == before);
    for (auto const i : {0U, 2U, 4U}) {
        nodes[i].restart(false);
    }
    // Nor before what they forgot has ended.
    co_await sleep_for(lease / 2);
    BOOST_TEST(record.read().entries == before);
    BOOST_TEST(co_await co_eventually(10s, [&] { return record.read().entries > before + 10; }));
}

}  // namespace

BOOST_AUTO_TEST_CASE(two_never_hold_it_and_tokens_grow) {
    auto const times = disturbances();
    node_group nodes{nodes_count, {.appendonly = true}};
    auto const body = [&](asio::any_io_executor executor) -> task {
        scratch_file const file{"quorum"};
        holder_record const record{file.path()};
        auto const seed = std::random_device{}();
        BOOST_TEST_MESSAGE("seed " << seed);
        holdfast::config settings;
        settings.lease = lease;
        auto clients = nodes.clients(executor, settings);
        workers all{nodes, file.path()};
        BOOST_TEST(co_await co_eventually(10s, [&] { return record.read().entries > 10; }));
        nemesis evil{nodes, seed};
        for (int i = 0; i < times; ++i) {
            co_await evil.disturb_one();
        }
        BOOST_TEST(co_await co_eventually(10s, [&] { return evil.quiet(); }));
        evil.end_all();
        co_await without_a_majority(nodes, record, clients);
        all.stop();
        auto const seen = record.read();
        BOOST_TEST_MESSAGE(
            evil.kills << " kills, " << evil.pauses << " pauses, " << seen.entries << " grants"
        );
        BOOST_TEST(seen.overlaps == 0);
        BOOST_TEST(seen.stale_tokens == 0);
        BOOST_TEST(seen.entries > 10 * times);
        BOOST_TEST(co_await co_eventually(5s, [&] { return nodes.holding("resource") == 0U; }));
        co_await clients.shutdown();
    };
    run_with_deadline(body, 60s + times * 5s);
}
