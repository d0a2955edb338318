#ifndef HOLDFAST_TEST_SIMULATION_QUEUE_JUDGE_HPP
#define HOLDFAST_TEST_SIMULATION_QUEUE_JUDGE_HPP

#include "simulation/server.hpp"
#include "simulation/sometimes.hpp"
#include "simulation/world.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

/// Whether those who keep a place in a queue on the server are served in the order in which they
/// came. Whoever was heard of within the time that a waiter may be silent is not passed over. A
/// part of the judges of fair locks, read/write locks and semaphores.
class queue_judge {
public:
    queue_judge(world& in, std::function<void(sometimes)> reached)
        : in_{in},
          reached_{std::move(reached)} {}

    void set_patience(nanos patience) noexcept { patience_ = patience; }
    [[nodiscard]] nanos patience() const noexcept { return patience_; }
    /// Times on the server mean nothing for a while.
    void on_clock_step() noexcept { last_step_ = in_.now(); }
    /// The new primary may not know who was heard of lately.
    void on_failover();

    /// Before a script that may change the queue: who stands there.
    void on_before(std::string_view lock, value const& queue);
    /// A refused attempt has this place.
    void on_placed(script_event const& what, std::string_view place);

    /// May this one be passed over, after one of `gone` that was silent for too long?
    using excuse = std::function<bool(std::string_view place, std::string_view gone)>;
    /// Who has this place, or none, is granted what the others wait for. Waiters may be silent for
    /// `less` than the time that is set.
    void on_granted(
        script_event const& what,
        std::string_view place,
        sometimes in_turn,
        excuse const& may_be_passed,
        nanos less = 0ns
    );
    /// An attempt that ran late took a place for somebody who may have gone.
    [[nodiscard]] bool placed_late() const noexcept { return placed_late_; }

private:
    struct history {
        std::vector<std::string> before;
        std::map<std::string, nanos, std::less<>> heard_at;
    };

    world& in_;
    std::function<void(sometimes)> reached_;
    nanos patience_{0};
    nanos last_step_{-24h};
    bool placed_late_ = false;
    std::map<std::string, history, std::less<>> locks_;
};

}  // namespace holdfast::sim

#endif
