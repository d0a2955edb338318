#ifndef HOLDFAST_TEST_INTEROP_FLEET_HPP
#define HOLDFAST_TEST_INTEROP_FLEET_HPP

#include "support/history/turns.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

using nanoseconds = std::chrono::nanoseconds;

/// What the processes of a mixed fleet wrote down. Times are those of
/// the system's monotonic clock, which all processes share.
class fleet_record {
public:
    using grant = history::turn;

    /// Returns what the lines of the process are noted under.
    std::size_t add_process(std::string language, std::string name);

    /// Takes a line `grant …` or `pause …` of a process; ignores others.
    void take(std::size_t process, std::string_view line);

    /// To be called when all lines are there, before anything below.
    void sort();

    /// In the order in which they were granted.
    std::vector<grant> const& turns() const { return grants_; }

    /// How long the lock took from a release to a grant, where the next holder was waiting already.
    /// In order of length.
    std::vector<nanoseconds> hand_overs() const;

    /// Shares and longest waits by language, quantiles of hand-overs, and those that took long.
    std::string describe() const;

private:
    struct member {
        std::string language;
        std::string name;
    };
    struct pause {
        std::size_t process;
        nanoseconds from;
        nanoseconds to;
    };

    bool waited(std::size_t index) const;
    nanoseconds hand_over(std::size_t index) const;
    std::string longest_pauses(nanoseconds from, nanoseconds to) const;

    std::vector<member> processes_;
    std::vector<grant> grants_;
    std::vector<pause> pauses_;
};

}  // namespace holdfast::test

#endif
