#include "support/history/findings.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace holdfast::history {

std::string_view name_of(rule broken) {
    // In their order.
    constexpr std::string_view rule_names[] = {
        "malformed history", "clean start", "exclusion",    "deadline",    "data loss",
        "dead on arrival",   "validity",    "permits",      "majority",    "observation",
        "token order",       "token reuse", "stale access", "lost update", "told in time",
        "renewal",           "progress",    "hand-over",    "promptness",  "redirection",
        "nothing left",      "survival"
    };
    static_assert(std::size(rule_names) == static_cast<std::size_t>(rule::survival) + 1);
    return rule_names[static_cast<std::size_t>(broken)];
}

tally& tally::operator+=(tally const& other) {
    grants += other.grants;
    hand_overs += other.hand_overs;
    told_lost += other.told_lost;
    overlaps += other.overlaps;
    explained_overlaps += other.explained_overlaps;
    excused += other.excused;
    stale_offered += other.stale_offered;
    stale_accepted += other.stale_accepted;
    lost_updates += other.lost_updates;
    lost_without_token += other.lost_without_token;
    left_behind += other.left_behind;
    most_permits = std::max(most_permits, other.most_permits);
    leaders_seen += other.leaders_seen;
    failovers += other.failovers;
    migrations += other.migrations;
    waiters_at_failovers += other.waiters_at_failovers;
    waiters_at_migrations += other.waiters_at_migrations;
    redirections += other.redirections;
    late_redirections += other.late_redirections;
    slowest_failover = std::max(slowest_failover, other.slowest_failover);
    slowest_move = std::max(slowest_move, other.slowest_move);
    slowest_recovery = std::max(slowest_recovery, other.slowest_recovery);
    slowest_service = std::max(slowest_service, other.slowest_service);
    return *this;
}

}  // namespace holdfast::history
