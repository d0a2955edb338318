#ifndef HOLDFAST_TEST_HISTORY_CHECKER_HPP
#define HOLDFAST_TEST_HISTORY_CHECKER_HPP

#include "support/history/event.hpp"
#include "support/history/findings.hpp"
#include "support/history/rules.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace holdfast::history {

/// Checks the histories of one server's locks, one after the other.
///
/// Between two histories nobody holds or wants a lock; tokens go on.
class checker {
public:
    explicit checker(rules const& by) : rules_{by} {}

    /// Sorts the events by their time.
    findings check(std::vector<event>& history);

private:
    rules rules_;
    std::map<std::int64_t, std::int64_t> newest_granted_;   // token by lock
    std::map<std::int64_t, std::int64_t> newest_accepted_;  // token by lock
    std::set<std::int64_t> dead_;                           // processes, of earlier histories
};

}  // namespace holdfast::history

#endif
