// What goes wrong with the nodes of a quorum.

#include "soak/account.hpp"
#include "soak/draws.hpp"
#include "soak/nemesis.hpp"
#include "soak/settings.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

namespace holdfast::soak {

using namespace std::chrono_literals;

namespace {

/// Disturbs nodes, no more than two at a time.
class disturber {
public:
    disturber(cell& where, std::mt19937_64& random)
        : nodes_{where.nodes()},
          random_{random},
          until_(nodes_.size(), 0),
          stopped_(nodes_.size(), false) {}

    void disturb_one() {
        std::size_t which = 0;
        do {
            sleep_ms(20);
            resume_some();
            which = static_cast<std::size_t>(draw(random_, 0, static_cast<int>(nodes_.size()) - 1));
        } while (out() >= 2 || until_[which] > now());
        if (one_in(random_, 2)) {
            nodes_[which].pause();
            stopped_[which] = true;
            until_[which] = now() + nanos{millis{draw(random_, 50, 1'550)}}.count();
            return;
        }
        nodes_[which].kill();
        sleep_ms(draw(random_, 0, 100));
        nodes_[which].restart(one_in(random_, 2));
        // It says for how many whole seconds it has been running.
        until_[which] = now() + nanos{lease_time + 2s}.count();
    }
    void await_quiet() {
        while (out() > 0) {
            sleep_ms(20);
        }
        resume_some();
    }

private:
    [[nodiscard]] std::ptrdiff_t out() const {
        auto const at = now();
        return std::count_if(until_.begin(), until_.end(), [at](instant end) { return end > at; });
    }
    void resume_some() {
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (stopped_[i] && until_[i] <= now()) {
                nodes_[i].resume();
                stopped_[i] = false;
            }
        }
    }

    std::deque<test::redis_server>& nodes_;
    std::mt19937_64& random_;
    std::vector<instant> until_;
    std::vector<bool> stopped_;
};

void disturb_nodes(cell& where, std::mt19937_64& random) {
    disturber all{where, random};
    for (int i = draw(random, 4, 10); i > 0; --i) {
        all.disturb_one();
    }
    all.await_quiet();
}

// Those that were killed could grant the lock again at once, but for the time they are left out.
void lose_majority(cell& where, std::mt19937_64& random) {
    auto& nodes = where.nodes();
    std::vector<std::size_t> victims(nodes.size());
    std::iota(victims.begin(), victims.end(), std::size_t{0});
    std::shuffle(victims.begin(), victims.end(), random);
    victims.resize(nodes.size() / 2 + 1);
    for (auto const each : victims) {
        nodes[each].kill();
    }
    auto const since = now();
    // A holder may have it until its lease ends.
    sleep_ms(static_cast<int>(lease_time.count()) + draw(random, 300, 600));
    auto const back = now();
    for (auto const each : victims) {
        nodes[each].restart(false);
    }
    // Nor is it granted before what they forgot has ended.
    auto const too_early = nanos{lease_time}.count() / 2;
    sleep_ms(static_cast<int>(lease_time.count()) / 2);
    where.note({
        .at = back + too_early,
        .what = happening::no_majority,
        .deadline = back,
        .since = since,
    });
}

}  // namespace

std::vector<fault> const& quorum_faults() {
    static std::vector<fault> const all = [] {
        std::vector<fault> made{
            {"nodes", "nodes are killed and stopped, two at a time at most", disturb_nodes},
            {"majority", "three nodes are killed, and come back empty", lose_majority},
        };
        constexpr std::array of_workers{
            std::string_view{"worker-kill"},
            std::string_view{"worker-pause"}
        };
        for (auto const& each : all_faults()) {
            if (std::find(of_workers.begin(), of_workers.end(), each.name) != of_workers.end()) {
                made.push_back(each);
            }
        }
        return made;
    }();
    return all;
}

}  // namespace holdfast::soak
