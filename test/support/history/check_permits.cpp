#include "support/history/checks.hpp"
#include "support/history/standing.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace holdfast::history {

namespace {

struct taken {
    instant from;
    instant until;
    std::int64_t count;
    event const* granted;
};

// By semaphore, in the order of the grants.
std::map<std::int64_t, std::vector<taken>> all_taken(record const& said) {
    std::map<std::int64_t, std::vector<taken>> found;
    for (auto const& [key, o] : said.operations) {
        if (!o.granted) {
            continue;
        }
        auto const until = o.releasing ? std::min(o.releasing->at, o.deadline) : o.deadline;
        if (until > o.granted->at) {
            found[o.granted->lock].push_back({o.granted->at, until, o.invoke->permits, o.granted});
        }
    }
    for (auto& [lock, all] : found) {
        std::sort(all.begin(), all.end(), [](taken const& a, taken const& b) {
            return a.from < b.from;
        });
    }
    return found;
}

// As an overlap of holders of a lock: a grant may have been on its way when the server lost it.
bool was_forgotten(rules const& by, record const& said, taken const& earlier, taken const& later) {
    auto const on_its_way = by.lease.count() / 2;
    return std::any_of(said.losses_of_all.begin(), said.losses_of_all.end(), [&](auto const& loss) {
        return later.from >= loss.first && earlier.from <= loss.second + on_its_way;
    });
}

}  // namespace

void check_permits(rules const& by, record const& said, findings& found) {
    if (by.permits == 0 || said.clock_moved) {
        return;
    }
    for (auto const& [lock, all] : all_taken(said)) {
        standing<taken const*, taken const*> holders;
        for (auto const& each : all) {
            holders.erase_if([&](taken const* s) { return s->until <= each.from; });
            holders.add(
                {.who = &each, .how = mode::permits, .holder = &each, .permits = each.count},
                [](taken const*) {}
            );
            auto const counts = [&](taken const* s) {
                return s == &each || !was_forgotten(by, said, *s, each);
            };
            auto const count = holders.taken(counts).permits;
            found.counts.most_permits = std::max(found.counts.most_permits, count);
            if (count > by.permits) {
                found.blame(
                    rule::permits,
                    *each.granted,
                    "{} of {} permits were taken when op {} of worker {} was granted {}",
                    count - each.count,
                    by.permits,
                    each.granted->op,
                    each.granted->process,
                    each.count
                );
            }
        }
    }
}

}  // namespace holdfast::history
