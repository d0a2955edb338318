#ifndef HOLDFAST_TEST_SIMULATION_NODE_HPP
#define HOLDFAST_TEST_SIMULATION_NODE_HPP

#include "simulation/deployment.hpp"
#include "simulation/observer_judge.hpp"
#include "simulation/oracle.hpp"
#include "simulation/quorum_judge.hpp"
#include "simulation/server.hpp"
#include "simulation/world.hpp"

#include <holdfast/client.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::sim {

/// What is the same for all who take part in a schedule.
struct setting {
    world& in;
    server& on;
    oracle& judge;
    quorum_judge& quorums;
    std::vector<std::string> locks{};
    std::chrono::milliseconds lease{};
    config client{};
    /// Nothing fails: promises are stricter.
    bool quiet = false;
    /// Faults that make these answers right.
    bool foreign_values = false;
    bool denials = false;
    bool bad_passwords = false;
    /// A client may have given up a withdrawal, because the lease that it was for had ended.
    bool long_faults = false;
    /// Some clients do not queue.
    bool two_versions = false;
    /// Between two operations of a user.
    nanos longest_rest{300ms};
    /// Nothing is disturbed any more, from this time on.
    nanos heals_at{0};
    bool healed = false;
    deployment at = deployment::single;
    /// Of `failover`: clients look for the primary by a name.
    bool by_name = false;
    /// Of `cluster`: no slot is moved.
    bool slots_stay = false;
    /// Of `quorum`: a process has a client for each of these.
    std::vector<std::string> hosts{};
    std::uint64_t grants = 0;
};

/// A process with a client, or one for each server, and users of them.
class node : public std::enable_shared_from_this<node> {
public:
    node(setting& all, std::uint32_t number, double rate);
    node(node const&) = delete;
    node& operator=(node const&) = delete;
    ~node();

    [[nodiscard]] setting& all() const noexcept { return all_; }
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    [[nodiscard]] process& of() noexcept { return *process_; }
    /// Of all its clients.
    [[nodiscard]] config const& settings() const noexcept { return settings_; }
    /// The only one, or the first.
    [[nodiscard]] holdfast::client& client() noexcept { return *clients_.front(); }
    [[nodiscard]] auto const& clients() const noexcept { return clients_; }

    [[nodiscard]] auto const& observers() const noexcept { return observers_; }

    /// A thread for one more user.
    [[nodiscard]] lane& add_user();
    void on_user_done() noexcept { --working_; }
    [[nodiscard]] bool working() const noexcept { return working_ > 0; }
    [[nodiscard]] lane& random_lane();

    /// Leases in somebody's hands here.
    void on_held(int more) noexcept { holding_ += more; }
    [[nodiscard]] bool holding() const noexcept { return holding_ > 0; }

    /// As by SIGKILL: nothing that happens in its last moments reaches anybody.
    void kill();
    [[nodiscard]] bool killed() const noexcept { return killed_; }
    /// `shutdown()`, or the destructor alone.
    void close(bool shut_down);
    [[nodiscard]] bool closed() const noexcept { return closed_; }

private:
    setting& all_;
    std::uint32_t number_;
    config settings_;
    std::unique_ptr<process> process_;
    std::vector<lane*> lanes_;
    std::vector<std::unique_ptr<holdfast::client>> clients_;
    std::vector<std::shared_ptr<observer_judge>> observers_;
    int working_ = 0;
    int holding_ = 0;
    bool closed_ = false;
    bool killed_ = false;
};

}  // namespace holdfast::sim

#endif
