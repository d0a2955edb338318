#ifndef HOLDFAST_TEST_INTEROP_FLEET_HPP
#define HOLDFAST_TEST_INTEROP_FLEET_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

using nanoseconds = std::chrono::nanoseconds;

/// What the processes of a mixed fleet wrote down, and what was wrong with it. Times are those of
/// the system's monotonic clock, which all processes share.
class fleet_record {
public:
    struct grant {
        std::size_t process = 0;
        nanoseconds called{0};
        nanoseconds granted{0};
        nanoseconds releasing{0};
        std::uint64_t token = 0;
        std::int64_t number = 0;  // read under the lock: each is one more than the last
    };

    /// Without tokens of Java's, only those of ours must grow.
    explicit fleet_record(bool all_have_tokens = true) : all_have_tokens_{all_have_tokens} {}

    /// Returns what the lines of the process are noted under.
    std::size_t add_process(std::string language, std::string name);

    /// Takes a line `grant …` or `pause …` of a process; ignores others.
    void take(std::size_t process, std::string_view line);

    /// To be called when all lines are there, before anything below.
    void sort();

    std::size_t grants() const { return grants_.size(); }

    /// A sentence for each broken promise: two holders, a token that did not grow, an update that
    /// was lost. At most `most`.
    std::vector<std::string> violations(std::size_t most = 10) const;

    /// How long the lock took from a release to a grant, where the next holder was waiting already.
    /// In order of length.
    std::vector<nanoseconds> hand_overs() const;

    nanoseconds longest_wait() const;

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

    bool all_have_tokens_;
    std::vector<member> processes_;
    std::vector<grant> grants_;
    std::vector<pause> pauses_;
};

}  // namespace holdfast::test

#endif
