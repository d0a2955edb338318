#ifndef HOLDFAST_TEST_SIMULATION_READING_JUDGE_HPP
#define HOLDFAST_TEST_SIMULATION_READING_JUDGE_HPP

#include "simulation/names.hpp"
#include "simulation/queue_judge.hpp"
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
    reading_judge(
        world& in,
        server& of,
        queue_judge& queue,
        std::function<void(sometimes)> reached
    );

    /// Before a script that may change who has the lock, or who waits.
    void on_before(std::string_view lock);
    void on_script(script_event const& what);
    /// The holders that the lock had before the script that runs.
    [[nodiscard]] std::vector<std::string> const& holders_before(std::string_view lock);

    /// The holder that writes for the owner of this reader, or nothing.
    [[nodiscard]] std::string_view writer_of(std::string_view lock, std::string_view reader) const;
    /// For how long the server keeps the hold of a reader, in ms; less than 0 if it does not.
    [[nodiscard]] std::int64_t left_of(std::string_view lock, std::string_view reader);
    void on_shared() { reached_(sometimes::hold_shared); }

private:
    struct history {
        // What the script that runs found.
        std::vector<std::string> holders;
        std::string writer;
        // A reader, and the writer that it is.
        std::map<std::string, std::string, std::less<>> beside;
    };

    void judge_turn(history& known, script_event const& what, std::string const& own);
    void judge_holders(std::string_view lock);

    world& in_;
    server& server_;
    queue_judge& queue_;
    std::function<void(sometimes)> reached_;
    std::map<std::string, history, std::less<>> locks_;
};

}  // namespace holdfast::sim

#endif
