#include "simulation/schedule.hpp"

#include "simulation/counting_user.hpp"
#include "simulation/drawing.hpp"
#include "simulation/faults.hpp"
#include "simulation/quorum_user.hpp"
#include "simulation/user.hpp"
#include "simulation/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::sim {

namespace {

// Clocks go wrong by up to 0.4 %: two of them by less than what a lease allows for.
double drift(random_source& dice) {
    return 1.0 + 0.004 * (2 * dice.part() - 1);
}

// Some networks take no time at all: nothing may be repeated without a pause.
void draw_network(random_source& dice, setting const& all, route& to) {
    to.shortest = 20us;
    to.longest = dice.any_scale(100us, 20ms);
    if (all.quiet) {
        // No answer is late.
        to.slow_by_factor = std::clamp(static_cast<int>(20ms / to.longest), 1, 20);
    }
    if (dice.chance(5)) {
        to.shortest = to.longest = 0ns;
    }
}

// Several processes want one or two locks of a quorum.
void prepare_quorum(arena& where) {
    auto& dice = where.in().dice();
    auto& all = where.all();
    all.quiet = dice.chance(15);
    if (all.quiet) {
        where.judge().set_quiet();
    }
    where.in().set_in_order(dice.chance(40));
    all.locks = {"lock-0"};
    if (dice.chance(20)) {
        all.locks.emplace_back("lock-1");
    }
    where.set_lease(dice.one_of({1'000ms, 1'500ms, 3'000ms, 30'000ms}));
    all.client.fallback_poll_interval = dice.one_of({100ms, 5'000ms, 600'000ms});
    all.heals_at = dice.any_scale(300ms, 6s);
    where.spread(dice.one_of<std::size_t>({3, 3, 4, 5, 5}));
    if (!all.quiet && dice.chance(8)) {
        where.set_lock_delay(dice.one_of({all.lease / 2, all.lease}));
    }
    auto const processes = 1 + dice.below(3);
    for (std::size_t i = 0; i < processes; ++i) {
        draw_network(dice, all, where.on().route_of(static_cast<std::uint32_t>(i + 1)));
        draw_settings(dice, all.client);
        // A shorter one than a lease excludes nobody.
        if (dice.chance(30)) {
            all.client.restart_delay = dice.one_of({all.lease, 2 * all.lease});
        }
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
    all.quiet = dice.chance(may_fail_over ? 5 : 20);
    if (all.quiet) {
        where.judge().set_quiet();
    }
    where.in().set_in_order(dice.chance(40));
    // Many users of one client, or few of several.
    bool const crowded = dice.chance(25);
    all.longest_rest = crowded ? 20ms : 300ms;
    auto const locks = crowded ? 2 + dice.below(3) : 1 + dice.below(2) + (dice.chance(15) ? 1 : 0);
    // What is counted has no lease: a failover takes it, or gives it twice.
    bool const counts = !may_fail_over && dice.chance(20);
    if (!counts && dice.chance(10)) {
        all.client.key_prefix = "app/";
    }
    if (all.at == deployment::single && dice.chance(15)) {
        where.set_database(1 + static_cast<int>(dice.below(15)));
    }
    // Then one script may take several of them.
    bool const share_a_slot = dice.chance(all.at == deployment::cluster ? 40 : 10);
    for (std::size_t i = 0; i < locks; ++i) {
        auto const chosen = dice.below(100);
        auto const* const kind = chosen < 15   ? "fair"
                                 : chosen < 35 ? "pool"
                                 : chosen < 60 ? "rw"
                                               : "lock";
        auto const& made = all.locks.emplace_back(
            fmt::format("{}{}-{}{}", all.client.key_prefix, kind, i, share_a_slot ? "{tag}" : "")
        );
        if (is_pool(made)) {
            all.judge.permits().set_limit(made, 1 + static_cast<std::int64_t>(dice.below(4)));
        }
    }
    // A long lease shows a lost wake-up: its end comes too late to hide it.
    where.set_lease(dice.one_of({1'000ms, 1'500ms, 3'000ms, 30'000ms, 30'000ms, 3'600'000ms}));
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
    all.heals_at = dice.any_scale(300ms, 6s);
    if (may_fail_over) {
        if (all.at == deployment::cluster) {
            where.make_cluster();
        } else {
            where.replicate(dice.chance(30));
            // Under a short lease it would leave no time for a new connection.
            if (all.lease >= 3s && dice.chance(25)) {
                where.wait_for_replicas(dice.one_of({0ms, 100ms}));
            }
        }
    }
    if (!all.quiet && all.lease <= 3s && dice.chance(may_fail_over ? 25 : 8)) {
        where.set_lock_delay(dice.one_of({all.lease / 2, all.lease, 2 * all.lease}));
        // A slot that comes later has been at a server that nobody holds anything back at.
        all.slots_stay = true;
    }
    std::int64_t count_downs = 0;
    auto const clients = 1 + dice.below(crowded ? 2 : 3);
    for (std::size_t i = 0; i < clients; ++i) {
        draw_network(dice, all, where.on().route_of(static_cast<std::uint32_t>(i + 1)));
        // Two versions may share a lock.
        all.client.hand_over = !dice.chance(12);
        all.two_versions = all.two_versions || !all.client.hand_over;
        draw_settings(dice, all.client);
        if (counts) {
            all.client.max_waiters = most_users;
        }
        auto& made = where.add_node(drift(dice));
        start_workers(
            made,
            (crowded ? 4 : 1) + static_cast<int>(dice.below(3)),
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
