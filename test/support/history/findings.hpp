#ifndef HOLDFAST_TEST_HISTORY_FINDINGS_HPP
#define HOLDFAST_TEST_HISTORY_FINDINGS_HPP

#include "support/history/event.hpp"
#include "support/history/rules.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::history {

struct violation {
    rule broken;
    instant at;
    std::int64_t lock;     // -1: none in particular
    std::int64_t process;  // 0: none in particular
    std::string text;
};

struct tally {
    std::int64_t grants = 0;
    std::int64_t hand_overs = 0;  // grants after a grant to another process
    std::int64_t told_lost = 0;
    std::int64_t overlaps = 0;
    std::int64_t explained_overlaps = 0;  // the server had lost its data, or its clock was set
    std::int64_t excused = 0;             // told too late because the process could not run
    std::int64_t stale_offered = 0;
    std::int64_t stale_accepted = 0;
    std::int64_t lost_updates = 0;
    std::int64_t lost_without_token = 0;
    std::int64_t left_behind = 0;
    std::int64_t most_permits = 0;  // that were taken at a time
    std::int64_t leaders_seen = 0;  // by observers
    std::int64_t failovers = 0;
    std::int64_t migrations = 0;
    std::int64_t waiters_at_failovers = 0;
    std::int64_t waiters_at_migrations = 0;
    std::int64_t redirections = 0;  // requests to a wrong server, just after a change
    std::int64_t late_redirections = 0;
    nanos slowest_recovery{0};  // from the end of the fault to the grant of one who waited then

    nanos slowest_failover{0};  // until another server has the locks
    nanos slowest_service{0};   // from then to the first grant to a worker
    nanos slowest_move{0};      // as before, after a migration

    tally& operator+=(tally const& other);
};

struct findings {
    /// `e` is where the rule was broken.
    template <class... Args>
    void blame(rule broken, event const& e, fmt::format_string<Args...> format, Args&&... args) {
        auto text = fmt::format(format, std::forward<Args>(args)...);
        violations.push_back({broken, e.at, e.lock, e.process, std::move(text)});
    }

    tally counts;
    std::vector<violation> violations;
};

}  // namespace holdfast::history

#endif
