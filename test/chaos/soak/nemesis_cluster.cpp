// What goes wrong in a Redis Cluster.

#include "soak/account.hpp"
#include "soak/draws.hpp"
#include "soak/nemesis.hpp"
#include "soak/settings.hpp"
#include "support/history/record.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::soak {

using namespace std::chrono_literals;

namespace {

constexpr auto change_limit = 30s;

/// A primary that has locks, and who copies it.
struct victim {
    std::size_t primary;
    std::size_t replica;
    std::int64_t locks;
};

// One with many locks is drawn more often.
victim draw_victim(cell& where, std::mt19937_64& random) {
    auto& cluster = where.cluster();
    auto const primary = cluster.owner_of(draw(random, 0, all_locks - 1));
    return {primary, cluster.replica_of(primary), cluster.locks_of(primary)};
}

// Until another node has what it had.
instant await_takeover(cell& where, victim const& of) {
    if (!where.cluster().wait_for_takeover(of.primary, change_limit)) {
        throw std::runtime_error{"no replica takes over"};
    }
    return now();
}

// Wakes it up. It takes itself for a primary until another node tells it.
instant await_demotion(cell& where, victim const& of) {
    where.cluster().resume(of.primary);
    if (!where.cluster().wait_for_demotion(of.primary, change_limit)) {
        throw std::runtime_error{"the old primary does not become a replica"};
    }
    return now();
}

// Half of them come back soon.
void kill_primary(cell& where, std::mt19937_64& random) {
    auto const chosen = draw_victim(where, random);
    change seen{.since = now(), .locks = chosen.locks};
    where.cluster().kill(chosen.primary);
    seen.last_lost = now();
    seen.to = await_takeover(where, chosen);
    where.note_change(seen);
    if (one_in(random, 2)) {
        where.cluster().raise_all();
    }
}

// As above.
void pause_primary(cell& where, std::mt19937_64& random) {
    auto const chosen = draw_victim(where, random);
    change seen{.since = now(), .locks = chosen.locks};
    where.cluster().pause(chosen.primary);
    seen.last_lost = now();
    seen.to = await_takeover(where, chosen);
    if (one_in(random, 2)) {
        sleep_ms(draw(random, 0, 300));
        seen.last_lost = await_demotion(where, chosen);
    }
    where.note_change(seen);
}

void tell_replica(cell& where, victim const& of, std::vector<std::string> const& words) {
    if (auto const reply = where.cluster().node(of.replica).probe().command(words);
        reply.is_error()) {
        throw std::runtime_error{"CLUSTER FAILOVER: " + reply.text};
    }
}

// The primary takes no writes until its replica has all of them: nothing is lost.
void fail_over(cell& where, std::mt19937_64& random) {
    auto const chosen = draw_victim(where, random);
    change seen{.since = now(), .locks = chosen.locks};
    tell_replica(where, chosen, {"CLUSTER", "FAILOVER"});
    seen.to = await_takeover(where, chosen);
    where.note_change(seen);
}

// At once, while leases that the replica may not know of go on.
void take_over(cell& where, std::mt19937_64& random) {
    auto const chosen = draw_victim(where, random);
    bool const dies = one_in(random, 2);
    change seen{.since = now(), .locks = chosen.locks};
    if (dies) {
        where.cluster().kill(chosen.primary);
    } else {
        where.cluster().pause(chosen.primary);
    }
    seen.last_lost = now();
    tell_replica(where, chosen, {"CLUSTER", "FAILOVER", "TAKEOVER"});
    seen.to = await_takeover(where, chosen);
    sleep_ms(draw(random, 0, 500));
    if (!dies) {
        seen.last_lost = await_demotion(where, chosen);
    }
    where.note_change(seen);
}

// Short ones are over before anybody has to wait, during long ones leases have to be renewed.
int draw_pause(std::mt19937_64& random) {
    return one_in(random, 3) ? draw(random, 0, 500) : draw(random, 0, 20);
}

// The slot of a lock in use goes to another primary, as `redis-cli --cluster` moves it.
void move_slot(cell& where, std::mt19937_64& random) {
    auto& cluster = where.cluster();
    auto const lock = draw(random, 0, all_locks - 1);
    auto const slot = cluster_group::slot_of(lock);
    auto const from = cluster.owner_of(lock);
    auto others = cluster.primaries();
    std::erase(others, from);
    auto const to = others.at(static_cast<std::size_t>(draw(random, 0, 1)));
    change seen{.since = now(), .locks = bit_of(lock), .migration = true};
    cluster.begin_move(slot, from, to);
    sleep_ms(draw_pause(random));
    cluster.move_keys(slot, from, to);
    sleep_ms(draw_pause(random));
    cluster.end_move(slot, from, to);
    if (!cluster.wait_until_agreed(change_limit)) {
        throw std::runtime_error{"the nodes do not agree who has the slot"};
    }
    seen.to = now();
    where.note_change(seen);
}

}  // namespace

std::vector<fault> const& cluster_faults() {
    static std::vector<fault> const all{
        {"primary-kill", "a primary is killed, and comes back as a replica", kill_primary},
        {"primary-pause", "a primary is stopped, and wakes up some time", pause_primary},
        {"failover", "CLUSTER FAILOVER", fail_over},
        {"takeover", "a primary is killed or stopped, and CLUSTER FAILOVER TAKEOVER", take_over},
        {migration_fault, "the slot of a lock in use goes to another primary", move_slot},
    };
    return all;
}

}  // namespace holdfast::soak
