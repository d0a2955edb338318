#ifndef HOLDFAST_TEST_SIMULATION_PERMIT_JUDGE_HPP
#define HOLDFAST_TEST_SIMULATION_PERMIT_JUDGE_HPP

#include "simulation/names.hpp"
#include "simulation/queue_judge.hpp"
#include "simulation/server.hpp"
#include "simulation/world.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace holdfast::sim {

/// Whether the permits of semaphores are kept together: none is lost, none is made, and they go to
/// those who wait in the order in which they came.
class permit_judge {
public:
    permit_judge(world& in, server& of, queue_judge& queue) : in_{in}, server_{of}, queue_{queue} {}

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

    /// A key that stays when nobody uses the semaphore any more; what is in it is judged.
    [[nodiscard]] bool may_stay(std::string const& key);

private:
    struct history {
        std::int64_t limit = 0;
        // Who had permits before the script that runs.
        std::set<std::string, std::less<>> had;
        std::set<std::string, std::less<>> holders;
    };

    void judge_sum(std::string_view pool, history const& known);
    [[nodiscard]] std::int64_t missing_of(std::string_view pool, std::int64_t sum);
    void on_granted(history& known, script_event const& what);
    [[nodiscard]] std::int64_t now_ms() const { return server_.wall_clock() / 1'000; }

    world& in_;
    server& server_;
    queue_judge& queue_;
    std::map<std::string, history, std::less<>> pools_;
};

}  // namespace holdfast::sim

#endif
