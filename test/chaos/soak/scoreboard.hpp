#ifndef HOLDFAST_TEST_SOAK_SCOREBOARD_HPP
#define HOLDFAST_TEST_SOAK_SCOREBOARD_HPP

#include "soak/cell.hpp"
#include "support/history/checker.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::soak {

struct cycle {
    std::int64_t number;
    std::string fault;
    std::string server;
    std::uint64_t seed;
};

/// The events around a violation, one a line, with their distance to it in ms.
std::string evidence(violation const& of, std::vector<event> const& history);

/// What all cells have come to. Thread-safe.
class scoreboard {
public:
    scoreboard(std::optional<std::int64_t> cycles, std::filesystem::path histories);

    /// Counts a cycle, keeps its history if it broke a rule, and shows where we are.
    void add(cycle const& c, cell::outcome const& result);
    /// A cycle that could not be carried out, say because a server did not start; it is repeated.
    void add_void(cycle const& c, std::string const& why);
    /// Something that ends the work of a cell.
    void add_failure(std::string const& text);

    [[nodiscard]] bool has_violations() const;
    /// So many that going on tells nothing new.
    [[nodiscard]] bool has_enough() const;

    void print_table() const;

private:
    struct row {
        std::int64_t cycles = 0;
        tally counts;
    };

    void report(cycle const& c, cell::outcome const& result);
    void show_progress();
    void print_changes() const;
    void clear_line() const;

    std::optional<std::int64_t> cycles_;
    std::filesystem::path histories_;
    bool terminal_;
    mutable std::mutex mutex_;
    std::map<std::pair<std::string, std::string>, row> rows_;  // by server and fault
    row all_;
    std::int64_t violations_ = 0;
    std::int64_t bad_cycles_ = 0;
    std::int64_t growth_ = 0;
    std::int64_t void_ = 0;
    std::chrono::steady_clock::time_point shown_{};
};

}  // namespace holdfast::soak

#endif
