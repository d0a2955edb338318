#ifndef HOLDFAST_TEST_SIMULATION_FAIR_JUDGE_HPP
#define HOLDFAST_TEST_SIMULATION_FAIR_JUDGE_HPP

#include "simulation/names.hpp"
#include "simulation/reading_judge.hpp"
#include "simulation/server.hpp"
#include "simulation/sometimes.hpp"
#include "simulation/world.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

/// Whether fair locks go to those who wait in the order in which they came. Whoever was heard of
/// within the time that a waiter may be silent is not passed over.
class fair_judge {
public:
    fair_judge(world& in, server& of, std::function<void(sometimes)> reached);

    void set_patience(nanos patience) noexcept { patience_ = patience; }
    [[nodiscard]] nanos patience() const noexcept { return patience_; }
    /// Times on the server mean nothing for a while.
    void on_clock_step() noexcept { last_step_ = in_.now(); }
    /// The new primary may not know who was heard of lately.
    void on_failover() {
        for (auto& [name, known] : locks_) {
            known.heard_at.clear();
        }
    }
    /// Before a script that may change the queue.
    void on_before(std::string_view lock);
    void on_script(script_event const& what);
    /// An attempt that ran late took a place for somebody who may have gone.
    [[nodiscard]] bool placed_late() const noexcept { return placed_late_; }

private:
    struct history {
        // Who stood in the queue before the script that runs, and who had the lock.
        std::vector<std::string> before;
        bool was_held = false;
        std::map<std::string, nanos, std::less<>> heard_at;
    };

    [[nodiscard]] bool listens(std::string_view lock, std::string_view holder);

    world& in_;
    server& server_;
    std::function<void(sometimes)> reached_;
    nanos patience_{0};
    nanos last_step_{-24h};
    bool placed_late_ = false;
    std::map<std::string, history, std::less<>> locks_;
};

}  // namespace holdfast::sim

#endif
