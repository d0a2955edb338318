#ifndef HOLDFAST_TEST_WIRE_REPORT_HPP
#define HOLDFAST_TEST_WIRE_REPORT_HPP

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::test {

/// What may go wrong under a fault.
enum class violation {
    false_grant,    // a valid lease of one who is not the holder, or two valid ones
    hang,           // an operation did not end within its bound
    wrong_end,      // it ended in a way that it may not
    left_behind,    // something was left on the server or in the client
    not_recovered,  // the client was of no use afterwards
    wrong_epoch,    // a connection that has to go was kept, or the other way round
    missed,         // the fault did not take place: nothing was tested
};

inline constexpr std::size_t violations = 7;

/// What a run found. Used on one thread.
class report {
public:
    /// `where`: which fault, in which operation.
    void add(violation what, std::string const& where, std::string const& details);

    /// Adds all that another report has.
    void add(report const& other);

    std::size_t count(violation what) const;
    bool clean() const;

    /// How long an operation took under a fault.
    void took(std::chrono::nanoseconds time, std::string const& where);
    void judged() { ++judged_; }
    void repeated() { ++repeated_; }

    /// "false grants 0, hangs 0, …; leases judged 123; longest operation 45 ms (where)".
    std::string summary() const;

    /// Fails the test case for each kind of violation that was found, with the first few of each.
    void check() const;

private:
    struct tally {
        std::size_t count = 0;
        std::vector<std::string> first;
    };

    std::array<tally, violations> found_;
    std::size_t judged_ = 0;
    std::size_t repeated_ = 0;
    std::chrono::nanoseconds longest_{0};
    std::string longest_where_;
};

}  // namespace holdfast::test

#endif
