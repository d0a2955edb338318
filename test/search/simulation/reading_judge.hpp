#ifndef HOLDFAST_TEST_SIMULATION_READING_JUDGE_HPP
#define HOLDFAST_TEST_SIMULATION_READING_JUDGE_HPP

#include "simulation/names.hpp"
#include "simulation/server.hpp"
#include "simulation/sometimes.hpp"
#include "simulation/world.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

/// Whether read/write locks have many readers or one writer, and go to those who wait in the order
/// in which they came.
class reading_judge {
public:
    reading_judge(world& in, server& of, std::function<void(sometimes)> reached);

    void set_patience(nanos patience) noexcept { patience_ = patience; }
    /// An attempt took a place after its client had closed the connection.
    [[nodiscard]] bool placed_late() const noexcept { return placed_late_; }
    void on_clock_step() noexcept { last_step_ = in_.now(); }
    /// The new primary may not know who was heard of lately.
    void on_failover() {
        for (auto& [name, known] : locks_) {
            known.heard_at.clear();
        }
    }
    /// Before a script that may change who has the lock, or who waits.
    void on_before(std::string_view lock);
    void on_script(script_event const& what);
    /// The holders that the lock had before the script that runs.
    [[nodiscard]] std::vector<std::string> const& holders_before(std::string_view lock);

    /// The owner of this writer reads as this reader, too.
    [[nodiscard]] bool reads_beside(
        std::string_view lock,
        std::string_view reader,
        std::string_view writer
    ) const;
    /// For how long the server keeps the hold of a reader, in ms; less than 0 if it does not.
    [[nodiscard]] std::int64_t left_of(std::string_view lock, std::string_view reader);
    void on_shared() { reached_(sometimes::hold_shared); }

private:
    struct history {
        // What the script that runs found.
        std::vector<std::string> queue;
        std::vector<std::string> holders;
        std::string writer;
        std::map<std::string, nanos, std::less<>> heard_at;
        // A reader, and the writer that it is.
        std::map<std::string, std::string, std::less<>> beside;
    };

    void judge_turn(history& known, script_event const& what, std::string const& own);
    void judge_holders(history const& known, std::string_view lock);

    world& in_;
    server& server_;
    std::function<void(sometimes)> reached_;
    nanos patience_{0};
    nanos last_step_{-24h};
    std::map<std::string, history, std::less<>> locks_;
    bool placed_late_ = false;
};

}  // namespace holdfast::sim

#endif
