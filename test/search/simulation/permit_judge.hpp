#ifndef HOLDFAST_TEST_SIMULATION_PERMIT_JUDGE_HPP
#define HOLDFAST_TEST_SIMULATION_PERMIT_JUDGE_HPP

#include "simulation/names.hpp"
#include "simulation/server.hpp"
#include "simulation/sometimes.hpp"
#include "simulation/world.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

/// Whether the permits of semaphores are kept together: none is lost, none is made, and they go to
/// those who wait in the order in which they came. Whoever was heard of within the time that a
/// waiter may be silent is not passed over.
class permit_judge {
public:
    permit_judge(world& in, server& of, std::function<void(sometimes)> reached);

    void set_patience(nanos patience) noexcept { patience_ = patience; }
    /// Times on the server mean nothing for a while.
    void on_clock_step() noexcept { last_step_ = in_.now(); }
    /// The new primary may not know who was heard of lately.
    void on_failover() {
        for (auto& [name, known] : pools_) {
            known.heard_at.clear();
        }
    }

    /// Says how many permits there are, as an operator does it; again after the data were lost.
    void set_limit(std::string const& pool, std::int64_t limit);
    void set_limit_again(std::string const& pool) { set_limit(pool, limit_of(pool)); }
    [[nodiscard]] std::int64_t limit_of(std::string_view pool) const;

    /// Before a script that may give permits away.
    void on_before(std::string_view pool);
    void on_script(script_event const& what);

    /// Until when the server keeps all permits of this holder, by its clock in ms; nothing if one
    /// of them is missing.
    [[nodiscard]] std::optional<std::int64_t> kept_until(
        std::string_view pool,
        std::string_view holder,
        std::int64_t permits
    );
    [[nodiscard]] bool holds(std::string_view pool, std::string_view holder) {
        return kept_until(pool, holder, 1).has_value();
    }
    /// All that were granted something and did not give it back.
    [[nodiscard]] std::set<std::string, std::less<>> const& holders(std::string_view pool);
    /// Whoever waits can have what was asked for.
    [[nodiscard]] bool all_free(std::string_view pool) const;
    /// How many somebody has who is not of this library.
    [[nodiscard]] std::int64_t taken_by_others(std::string_view pool);
    /// Somebody else takes a permit. False if none is free.
    bool take_for_other(std::string const& pool, std::chrono::milliseconds lease);
    void give_back_from_other(std::string const& pool);

    /// An attempt that ran late has a place that nobody gives up.
    [[nodiscard]] bool placed_late() const noexcept { return placed_late_; }
    /// A key that stays when nobody uses the semaphore any more; what is in it is judged.
    [[nodiscard]] bool may_stay(std::string const& key);

private:
    struct history {
        std::int64_t limit = 0;
        // Who stood in the queue before the script that runs, and who had permits.
        std::vector<std::string> before;
        std::set<std::string, std::less<>> had;
        std::set<std::string, std::less<>> holders;
        std::map<std::string, nanos, std::less<>> heard_at;
    };

    void judge_sum(std::string_view pool, history const& known);
    [[nodiscard]] std::int64_t missing_of(std::string_view pool, std::int64_t sum);
    void judge_turn(history const& known, script_event const& what);
    [[nodiscard]] std::int64_t now_ms() const { return server_.wall_clock() / 1'000; }

    world& in_;
    server& server_;
    std::function<void(sometimes)> reached_;
    nanos patience_{0};
    nanos last_step_{-24h};
    bool placed_late_ = false;
    std::map<std::string, history, std::less<>> pools_;
};

}  // namespace holdfast::sim

#endif
