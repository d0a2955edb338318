#ifndef HOLDFAST_TEST_SIMULATION_ARENA_HPP
#define HOLDFAST_TEST_SIMULATION_ARENA_HPP

#include "simulation/node.hpp"
#include "simulation/oracle.hpp"
#include "simulation/quorum_judge.hpp"
#include "simulation/server.hpp"
#include "simulation/sometimes.hpp"
#include "simulation/world.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::sim {

/// What came of one schedule.
struct outcome {
    /// Of everything that happened, in its order: the same decisions give the same.
    std::uint64_t hash = 0;
    std::uint64_t steps = 0;
    std::uint64_t grants = 0;
    std::uint64_t faults = 0;
    sometimes_counts reached{};
    /// Empty if every promise was kept.
    std::string violation;
};

/// A world with a server, an oracle and clients: what all schedules need, and the proof at the end
/// of each that everybody got what he waited for and that nothing was left behind.
class arena {
public:
    arena(std::uint64_t seed, bool traced, double server_rate, deployment at = deployment::single);
    arena(arena const&) = delete;
    arena& operator=(arena const&) = delete;
    ~arena();

    [[nodiscard]] world& in() noexcept { return world_; }
    [[nodiscard]] server& on() noexcept { return server_; }
    [[nodiscard]] oracle& judge() noexcept { return oracle_; }
    [[nodiscard]] setting& all() noexcept { return all_; }
    [[nodiscard]] std::vector<std::shared_ptr<node>>& nodes() noexcept { return nodes_; }

    /// The locks are on a primary with a replica from now on; `by_name`: no Sentinel tells which of
    /// the two it is, and the name leads there.
    void replicate(bool by_name);
    /// The locks are on the nodes of a cluster from now on, wherever the dice put their slots.
    void make_cluster();
    /// The locks are on so many servers that know nothing of each other from now on.
    void spread(std::size_t nodes);
    /// Of the one server.
    void set_database(int number);
    void wait_for_replicas(std::chrono::milliseconds timeout);
    void set_lock_delay(std::chrono::milliseconds delay);
    void set_lease(std::chrono::milliseconds lease);
    /// How long a waiter may be silent that keeps its place by asking again.
    void set_patience(std::chrono::milliseconds patience);
    node& add_node(double rate);

    /// Steps as long as `goes_on`, at most for `limit`.
    template <class GoesOn>
    void run_while(GoesOn goes_on, nanos limit) {
        auto const end = world_.now() + limit;
        while (!world_.failed() && goes_on() && world_.now() < end && world_.step()) {
            check_steps();
        }
    }

    /// Nothing fails any more. Everybody gets what he waits for, and gives it back.
    void settle();
    /// The clients go, by `shutdown()` where the dice say so, and leave nothing behind.
    void part();
    [[nodiscard]] outcome result() const;

private:
    void check_steps();
    /// What may stay where the places of those who are gone may, and expires.
    [[nodiscard]] bool is_of_a_queue(std::string_view key);
    void check_empty(node& one);
    void check_nodes();
    void check_ended(node& one);
    [[nodiscard]] bool working() const;

    world world_;
    server server_;
    oracle oracle_;
    quorum_judge quorums_;
    setting all_;
    std::vector<std::shared_ptr<node>> nodes_;
};

}  // namespace holdfast::sim

#endif
