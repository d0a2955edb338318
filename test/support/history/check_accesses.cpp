#include "support/history/checks.hpp"

#include <algorithm>

namespace holdfast::history {

void check_accesses(
    record const& said,
    std::map<std::int64_t, std::int64_t>& newest_accepted,
    findings& found
) {
    for (auto const* const e : said.accesses) {
        auto const user = said.operations.find({e->process, e->op});
        bool const known = user != said.operations.end() && user->second.granted;
        if (!known && !said.dead.contains(e->process)) {
            found.blame(rule::malformed, *e, "the resource was used without a lease");
        } else if (known && user->second.granted->token != e->token) {
            found.blame(rule::malformed, *e, "the resource was used with another token");
        }
        auto& newest = newest_accepted[e->lock];
        bool const stale = e->token != 0 && e->token < newest;
        bool const taken = (e->flags & was_accepted) != 0;
        found.counts.stale_offered += stale ? 1 : 0;
        if (stale && taken) {
            ++found.counts.stale_accepted;
            found.blame(rule::stale_access, *e, "token {} accepted after {}", e->token, newest);
        }
        if (taken) {
            newest = std::max(newest, e->token);
        }
        if ((e->flags & undid_another) != 0) {
            ++found.counts.lost_updates;
            found.blame(rule::lost_update, *e, "a write with token {} undid another", e->token);
        }
        found.counts.lost_without_token += (e->flags & undid_without_token) != 0 ? 1 : 0;
    }
}

}  // namespace holdfast::history
