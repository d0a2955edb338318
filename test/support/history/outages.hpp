#ifndef HOLDFAST_TEST_HISTORY_OUTAGES_HPP
#define HOLDFAST_TEST_HISTORY_OUTAGES_HPP

#include "support/history/event.hpp"

#include <vector>

namespace holdfast::history {

/// When a process could not do anything: it was stopped, or had no processor.
class outages {
public:
    /// They may overlap.
    void add(instant from, instant to);

    /// How much of [from, to) the process was free, in ns.
    [[nodiscard]] instant free_time(instant from, instant to) const;

private:
    struct span {
        instant from;
        instant to;
    };
    std::vector<span> spans_;  // disjoint, in order
};

}  // namespace holdfast::history

#endif
