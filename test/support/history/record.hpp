#ifndef HOLDFAST_TEST_HISTORY_RECORD_HPP
#define HOLDFAST_TEST_HISTORY_RECORD_HPP

#include "support/history/event.hpp"
#include "support/history/findings.hpp"
#include "support/history/outages.hpp"
#include "support/history/rules.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace holdfast::history {

inline constexpr instant never = std::numeric_limits<instant>::max();

using op_key = std::pair<std::int64_t, std::int64_t>;  // process, op

inline double ms(instant duration) {
    return static_cast<double>(duration) / 1e6;
}

/// All that was said of one acquisition and its lease.
struct operation {
    event const* invoke = nullptr;
    event const* granted = nullptr;
    event const* ended = nullptr;  // without a lease
    event const* lost = nullptr;
    event const* renew = nullptr;                                 // the one that has no answer yet
    std::vector<std::pair<event const*, event const*>> renewals;  // that have one
    event const* releasing = nullptr;
    event const* released = nullptr;
    instant deadline = 0;
    bool cut_short = false;  // the deadline had passed by the time that it moved back there

    [[nodiscard]] event const* answer() const { return granted ? granted : ended; }
};

/// How long before this deadline its lease is lost. A lease that was shorter from the beginning has
/// the same part of it, until it is renewed.
instant margin_of(rules const& by, operation const& o, instant deadline);

/// These locks have another server than before.
struct change {
    instant since = 0;
    instant to = 0;  // from then on the other one serves them, and clients are told
    /// Until when the former one may have granted what the other one lacks; `never` if it lacks
    /// nothing.
    instant last_lost = never;
    std::int64_t locks = 0;  // 0: all
    bool migration = false;

    [[nodiscard]] bool loses_writes() const { return last_lost != never; }
    [[nodiscard]] bool concerns(std::int64_t lock) const {
        return locks == 0 || (locks >> lock & 1) != 0;
    }
};

/// What a history says, by whom it is about. It points into the history.
struct record {
    /// Until when the holder believed in its lease.
    [[nodiscard]] instant end_of_belief(operation const& o) const;
    /// For how long of that time the process could run.
    [[nodiscard]] instant free_time(std::int64_t process, instant from, instant to) const;
    [[nodiscard]] bool was_killed(std::int64_t process) const { return killed.contains(process); }

    std::map<op_key, operation> operations;
    std::vector<event const*> accesses;
    std::vector<event const*> observations;
    std::vector<event const*> minorities;  // times without a majority
    std::vector<std::pair<instant, instant>> losses;
    std::vector<std::pair<instant, instant>> losses_of_all;  // also of how many permits there are
    std::vector<change> changes;
    std::vector<event const*> redirections;
    std::map<std::int64_t, outages> outages_of;  // by process
    outages somebody_stalled;                    // one holder that cannot run keeps others waiting
    std::map<std::int64_t, instant> killed;      // by process
    std::set<std::int64_t> dead;                 // of earlier histories, too
    bool clock_moved = false;
    instant calm = never;
    instant healed = 0;
    instant last = 0;
};

/// Reads a history. What a single event breaks, or what cannot have happened, goes to `found`.
record read_record(
    rules const& by,
    std::vector<event> const& history,
    std::set<std::int64_t> dead,
    findings& found
);

}  // namespace holdfast::history

#endif
