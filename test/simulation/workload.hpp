#ifndef HOLDFAST_TEST_SIMULATION_WORKLOAD_HPP
#define HOLDFAST_TEST_SIMULATION_WORKLOAD_HPP

#include "simulation/oracle.hpp"
#include "simulation/server.hpp"
#include "simulation/world.hpp"

#include <holdfast/client.hpp>
#include <holdfast/owner.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::sim {

/// What is the same for all who take part in a schedule.
struct setting {
    world& in;
    server& on;
    oracle& judge;
    std::vector<std::string> locks;
    std::chrono::milliseconds lease;
    config client;
    /// Nothing fails: promises are stricter.
    bool quiet = false;
    /// Faults that make these answers right.
    bool foreign_values = false;
    bool denials = false;
    bool bad_passwords = false;
    bool server_faults = false;
    /// Nothing is disturbed any more, from this time on.
    nanos heals_at{0};
    bool healed = false;
    std::uint64_t grants = 0;
};

/// A process with a client and workers that use locks.
class node : public std::enable_shared_from_this<node> {
public:
    node(setting& all, std::uint32_t number, double rate);
    node(node const&) = delete;
    node& operator=(node const&) = delete;
    ~node();

    void start(int workers, int operations);
    [[nodiscard]] bool working() const noexcept { return working_ > 0; }
    [[nodiscard]] bool killed() const noexcept { return killed_; }
    [[nodiscard]] process& of() noexcept { return *process_; }
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    /// As by SIGKILL: nothing that happens in its last moments reaches anybody.
    void kill();
    /// `shutdown()`, or the destructor alone.
    void close(bool shut_down);
    [[nodiscard]] bool closed() const noexcept { return closed_; }
    [[nodiscard]] holdfast::stats stats() const { return client_->stats(); }
    [[nodiscard]] lane& random_lane();
    /// Whether a lease is in somebody's hands here.
    [[nodiscard]] bool holding() const noexcept { return holding_ > 0; }

private:
    friend class worker;

    setting& all_;
    std::uint32_t number_;
    std::unique_ptr<process> process_;
    std::vector<lane*> lanes_;
    std::optional<holdfast::client> client_;
    std::vector<holdfast::owner> owners_;
    int working_ = 0;
    int holding_ = 0;
    bool closed_ = false;
    bool killed_ = false;
};

}  // namespace holdfast::sim

#endif
