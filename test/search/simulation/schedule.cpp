#include "simulation/schedule.hpp"

#include "protocol/slot.hpp"
#include "simulation/counting_user.hpp"
#include "simulation/faults.hpp"
#include "simulation/quorum_user.hpp"
#include "simulation/workload.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sim {

namespace {

constexpr std::size_t most_locks = 3;

// Clocks go wrong by up to 0.4 %: two of them by less than what a lease allows for.
double drift(random_source& dice) {
    return 1.0 + 0.004 * (2 * dice.part() - 1);
}

// All of these names have one slot, without a tag in them.
std::string name_in_one_slot(std::string const& kind, std::size_t number) {
    using names = std::map<std::string, std::vector<std::string>>;
    static names const all = [] {
        names found;
        auto const slot = detail::slot_of("lock-0");
        for (auto const* const each : {"fair", "pool", "rw", "lock"}) {
            auto& some = found[each];
            for (int i = 0; some.size() < most_locks; ++i) {
                if (auto name = fmt::format("{}-{}", each, i); detail::slot_of(name) == slot) {
                    some.push_back(std::move(name));
                }
            }
        }
        return found;
    }();
    return all.at(kind).at(number);
}

// Several processes want one or two locks of a quorum.
void prepare_quorum(arena& where) {
    auto& dice = where.in().dice();
    auto& all = where.all();
    all.quiet = dice.chance(10);
    where.in().set_in_order(dice.chance(40));
    all.locks = {"lock-0"};
    if (dice.chance(20)) {
        all.locks.emplace_back("lock-1");
    }
    where.set_lease(dice.one_of({1'000ms, 1'500ms, 3'000ms, 30'000ms}));
    all.client.fallback_poll_interval = dice.one_of({100ms, 5'000ms, 600'000ms});
    all.client.reconnect_max = dice.one_of({200ms, 2'000ms});
    all.heals_at = dice.any_scale(300ms, 6s);
    where.spread(dice.one_of<std::size_t>({3, 3, 4, 5, 5}));
    auto const processes = 1 + dice.below(3);
    for (std::size_t i = 0; i < processes; ++i) {
        auto& route = where.on().route_of(static_cast<std::uint32_t>(i + 1));
        route.shortest = 20us;
        route.longest = all.quiet ? 500us : nanos{dice.any_scale(100us, 20ms)};
        start_quorum_users(
            where.add_node(drift(dice)),
            1 + static_cast<int>(dice.below(3)),
            1 + static_cast<int>(dice.below(5))
        );
    }
}

void prepare(arena& where) {
    if (where.all().at == deployment::quorum) {
        prepare_quorum(where);
        return;
    }
    auto& dice = where.in().dice();
    auto& all = where.all();
    bool const may_fail_over = fails_over(all.at);
    all.quiet = dice.chance(may_fail_over ? 5 : 15);
    where.in().set_in_order(dice.chance(40));
    auto const locks = 1 + dice.below(2) + (dice.chance(15) ? 1 : 0);
    // Then one script may take several of them.
    bool const share_a_slot = all.at == deployment::cluster && dice.chance(40);
    for (std::size_t i = 0; i < locks; ++i) {
        auto const chosen = dice.below(100);
        auto const* const kind = chosen < 15   ? "fair"
                                 : chosen < 35 ? "pool"
                                 : chosen < 60 ? "rw"
                                               : "lock";
        auto const& made = all.locks.emplace_back(
            share_a_slot ? name_in_one_slot(kind, i) : fmt::format("{}-{}", kind, i)
        );
        if (is_pool(made)) {
            all.judge.permits().set_limit(made, 1 + static_cast<std::int64_t>(dice.below(4)));
        }
    }
    // A long lease shows a lost wake-up: its end comes too late to hide it.
    where.set_lease(dice.one_of({1'000ms, 1'000ms, 1'500ms, 3'000ms, 30'000ms, 3'600'000ms}));
    all.client.fallback_poll_interval = dice.one_of({100ms, 5'000ms, 600'000ms});
    // A waiter of a fair lock is heard of four times in that time: not for ever behind a long
    // lease.
    auto const often = dice.chance(40);
    where.set_patience(
        where.all().lease > 1min  ? 60'000ms
        : where.all().lease > 10s ? 4'000ms
        : often                   ? 400ms
                                  : 2'000ms
    );
    all.client.learned_lease_min = dice.one_of({0ms, 1'000ms});
    all.client.reconnect_max = dice.one_of({200ms, 2'000ms});
    all.client.confirm_grants = dice.chance(10);
    all.heals_at = dice.any_scale(300ms, 6s);
    if (may_fail_over) {
        if (all.at == deployment::cluster) {
            where.make_cluster();
        } else {
            where.replicate(dice.chance(30));
        }
        if (!all.quiet && all.lease <= 3s && dice.chance(25)) {
            where.set_lock_delay(dice.one_of({all.lease / 2, all.lease, 2 * all.lease}));
            // A slot that comes later has been at a server that nobody holds anything back at.
            all.slots_stay = true;
        }
    }
    // What is counted has no lease: a failover takes it, or gives it twice.
    bool const counts = !may_fail_over && dice.chance(20);
    std::int64_t count_downs = 0;
    auto const clients = 1 + dice.below(3);
    for (std::size_t i = 0; i < clients; ++i) {
        auto& route = where.on().route_of(static_cast<std::uint32_t>(i + 1));
        route.shortest = 20us;
        route.longest = all.quiet ? 500us : nanos{dice.any_scale(100us, 20ms)};
        // Two versions may share a lock.
        all.client.hand_over = !dice.chance(12);
        all.two_versions = all.two_versions || !all.client.hand_over;
        auto& made = where.add_node(drift(dice));
        start_workers(
            made,
            1 + static_cast<int>(dice.below(3)),
            1 + static_cast<int>(dice.below(6))
        );
        if (counts) {
            count_downs += start_counting_users(made, 1 + static_cast<int>(dice.below(3)));
        }
    }
    if (counts) {
        auto const permits = 1 + static_cast<std::int64_t>(dice.below(4));
        where.judge().counting().begin(permits, count_downs, all.quiet);
    }
}

}  // namespace

outcome run_schedule(std::uint64_t seed, deployment at, bool traced) {
    random_source rate{~seed};
    arena where{seed, traced, drift(rate), at};
    prepare(where);
    std::optional<faults> wrong;
    auto const heals_at = where.all().heals_at;
    if (!where.all().quiet) {
        wrong.emplace(where.all(), where.nodes());
        wrong->plan(1 + where.in().dice().below(6), heals_at);
    }
    where.run_while([&] { return where.in().now() < heals_at; }, heals_at);
    if (wrong) {
        wrong->heal();
    }
    where.settle();
    where.part();
    auto result = where.result();
    result.faults = wrong ? wrong->count() : 0;
    return result;
}

}  // namespace holdfast::sim
