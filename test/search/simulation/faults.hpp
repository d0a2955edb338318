#ifndef HOLDFAST_TEST_SIMULATION_FAULTS_HPP
#define HOLDFAST_TEST_SIMULATION_FAULTS_HPP

#include "simulation/node.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace holdfast::sim {

/// What goes wrong in a schedule, and when.
class faults {
public:
    faults(setting& all, std::vector<std::shared_ptr<node>>& nodes);

    /// So many faults, at any time before `horizon`.
    void plan(std::size_t how_many, nanos horizon);
    /// Ends them all, and those that have not begun.
    void heal();
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

private:
    using undo = std::function<void()>;

    random_source& dice() { return all_.in.dice(); }
    void happen();
    void say(std::string const& what);
    /// `end` puts things right after `how_long`, or when all is healed.
    void lasts(nanos how_long, undo end);
    void at_once();
    [[nodiscard]] nanos a_while();
    [[nodiscard]] std::shared_ptr<node> somebody();
    [[nodiscard]] std::shared_ptr<link> some_link();
    [[nodiscard]] std::string const& some_lock();
    [[nodiscard]] std::string some_script();
    [[nodiscard]] nanos some_moment();

    void on_network(std::size_t which);
    void on_message(std::size_t which);
    void on_server(std::size_t which);
    void on_data(std::size_t which);
    void on_pool_data(std::size_t which, std::string const& pool);
    /// Whoever runs the semaphores says again how many permits there are.
    void set_limits_again();
    void on_refusal();
    void strange_usual_hold(std::string const& lock);
    void give_back(std::string const& lock);
    void end_endless(std::string const& lock);
    void end_foreign_value(std::string const& pool);
    void on_rules(std::size_t which);
    void on_process(std::size_t which);
    /// The primary is gone, or thought to be: its replica takes its place after a while.
    void on_primary();
    void promote(machine& to, nanos clock_behind);
    void tell_of_primary();
    void tell_sentinel(machine& which);
    /// The former primary learns what it is.
    void demote(machine& old, bool connections_end);
    void close_all_at(machine& which);
    void on_sentinel();
    /// A slot of a cluster, with what is in it, goes to another node.
    void on_slot();
    struct move;
    void move_next_key(std::shared_ptr<move> const& what);
    void end_move(std::shared_ptr<move> const& what);
    /// A node learns who has which slots, once it can.
    void tell_node(machine& which, undo then = [] {});
    /// Of those whose clients have locks: the primary, or one of them.
    [[nodiscard]] machine& some_server();
    /// One of the servers of a quorum.
    void on_node(std::size_t which);

    setting& all_;
    std::vector<std::shared_ptr<node>>& nodes_;
    std::vector<std::shared_ptr<undo>> going_on_;
    std::uint64_t count_ = 0;
    bool healed_ = false;
    // The primary and its replica do, or a slot is on its way. One thing at a time.
    bool changing_places_ = false;
    std::uint64_t config_epoch_ = 1;
    // Another tool had these locks and gave them back. A failover may undo that.
    std::set<std::string> given_back_;
};

}  // namespace holdfast::sim

#endif
