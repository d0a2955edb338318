#include "interop/scoreboard.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdio>

namespace holdfast::test {

scoreboard& scoreboard::of_this_run() {
    static scoreboard instance;
    return instance;
}

void scoreboard::add(line const& about, bool passed) {
    ++(passed ? scores_[about].passed : scores_[about].failed);
}

void scoreboard::print() const {
    std::printf("%-14s %-10s %-12s %8s %8s\n", "primitive", "Redisson", "", "passed", "failed");
    for (auto const& [about, counts] : scores_) {
        std::printf(
            "%-14s %-10s %-12s %8d %8d\n",
            about.primitive.c_str(),
            about.version.c_str(),
            about.direction.c_str(),
            counts.passed,
            counts.failed
        );
    }
    std::fflush(stdout);
}

namespace {

struct printed_at_the_end {
    ~printed_at_the_end() { scoreboard::of_this_run().print(); }
};

BOOST_TEST_GLOBAL_FIXTURE(printed_at_the_end);

}  // namespace

}  // namespace holdfast::test
