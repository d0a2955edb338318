#include "core/leader_sequence.hpp"

#include <utility>

namespace holdfast::detail {

leader_sequence::told leader_sequence::on_look(leader_look&& found) {
    told result;
    missed_ = missed_ || found.missed;
    for (auto& one : found.found) {
        seen_ = one.place;
        // An observer begins with who leads now. Who led before it began is not news.
        if (!begun_ && !found.leading) {
            continue;
        }
        result.changes.push_back({std::move(one.leader), std::exchange(missed_, false)});
        vacant_ = false;
    }
    begun_ = true;
    if (!seen_) {
        // There was none.
        seen_.emplace();
    }
    if (found.newest.is_after(*seen_)) {
        result.more = true;
        return result;
    }
    bool const leads = found.leading && found.newest == seen_;
    if (!leads && !std::exchange(vacant_, true)) {
        result.changes.push_back({{}, std::exchange(missed_, false)});
    } else if (leads && vacant_) {
        // A server that has it again had lost it: a replica, and then the former primary. What it
        // proclaimed has to be read once more.
        seen_.reset();
        missed_ = true;
        result.more = true;
    }
    return result;
}

}  // namespace holdfast::detail
