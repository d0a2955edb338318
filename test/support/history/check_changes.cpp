#include "support/history/checks.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

namespace holdfast::history {

namespace {

class changes_check {
public:
    changes_check(rules const& by, record const& said, findings& found)
        : rules_{by},
          said_{said},
          found_{found} {}

    void run() {
        for (auto const& each : said_.changes) {
            check_service(each);
            check_waiters(each);
        }
        check_redirections();
    }

private:
    // Where all locks have another server, every worker has something to do with it. Of some locks
    // it is who waits for one of them.
    [[nodiscard]] static bool wants_one(operation const& o, change const& of) {
        auto const& asked = *o.invoke;
        auto const* const answer = o.answer();
        return of.locks == 0 || (asked.limit < 0 && asked.at <= of.to && of.concerns(asked.lock) &&
                                 (!answer || answer->at >= of.to));
    }

    // Each worker that wanted one of the locks then was granted one soon.
    void check_service(change const& of) {
        std::map<std::int64_t, instant> first;  // by process; `never` if it was granted none
        for (auto const& [key, o] : said_.operations) {
            if (o.invoke && !said_.was_killed(o.invoke->process) && wants_one(o, of)) {
                first.try_emplace(o.invoke->process, never);
            }
        }
        for (auto const& [key, o] : said_.operations) {
            if (!o.granted || o.granted->at < of.to || !of.concerns(o.granted->lock)) {
                continue;
            }
            if (auto const found = first.find(o.granted->process); found != first.end()) {
                found->second = std::min(found->second, o.granted->at);
            }
        }
        auto& counts = found_.counts;
        if (!of.migration) {
            counts.slowest_failover = std::max(counts.slowest_failover, nanos{of.to - of.since});
        }
        auto& slowest = of.migration ? counts.slowest_move : counts.slowest_service;
        for (auto const& [process, at] : first) {
            auto const served = std::min(at, said_.last);
            auto const took = said_.somebody_stalled.free_time(of.to, served);
            slowest = std::max(slowest, nanos{took});
            if (took > rules_.service_within.count()) {
                found_.blame(
                    rule::progress,
                    {.at = served, .process = process},
                    "worker {} was granted none of these locks for {:.0f} ms after a {}",
                    process,
                    ms(took),
                    of.migration ? "migration" : "failover"
                );
            }
        }
    }

    // Who waits without a limit waits for the other server, too.
    void check_waiters(change const& of) {
        auto& counts = found_.counts;
        auto& waiters = of.migration ? counts.waiters_at_migrations : counts.waiters_at_failovers;
        for (auto const& [key, o] : said_.operations) {
            if (!o.invoke || o.invoke->limit >= 0 || !of.concerns(o.invoke->lock) ||
                o.invoke->at > of.to || (o.answer() && o.answer()->at < of.since)) {
                continue;
            }
            ++waiters;
            if (o.ended && o.ended->what == happening::failed) {
                found_.blame(
                    rule::progress,
                    *o.ended,
                    "op {} of worker {} did not wait for the lock's other server: {}",
                    o.invoke->op,
                    o.invoke->process,
                    o.ended->word
                );
            }
        }
    }

    // How many pairs of a client and a lock it uses that has another server.
    [[nodiscard]] std::int64_t pairs_concerned() const {
        std::set<std::pair<std::int64_t, std::int64_t>> all;  // process, lock
        for (auto const& [key, o] : said_.operations) {
            if (o.invoke) {
                all.emplace(o.invoke->process, o.invoke->lock);
            }
        }
        std::int64_t sum = 0;
        for (auto const& each : said_.changes) {
            sum += std::count_if(all.begin(), all.end(), [&](auto const& pair) {
                return each.concerns(pair.second);
            });
        }
        return sum;
    }

    // What is under way when a lock gets another server goes to the former one. Whoever has been
    // told goes there no more; who has not needed the lock meanwhile is told later.
    void check_redirections() {
        auto const pairs = pairs_concerned();
        for (auto const* const e : said_.redirections) {
            bool const late = e->word == "late";
            auto const most = pairs * (late ? 1 : rules_.redirections_of_a_lock);
            (late ? found_.counts.late_redirections : found_.counts.redirections) += e->limit;
            if (e->limit > most) {
                found_.blame(
                    rule::redirection,
                    *e,
                    "{} requests went to a wrong server{}, for {} locks of clients",
                    e->limit,
                    late ? " that was known to be" : "",
                    pairs
                );
            }
        }
    }

    rules const& rules_;
    record const& said_;
    findings& found_;
};

}  // namespace

void check_changes(rules const& by, record const& said, findings& found) {
    changes_check{by, said, found}.run();
}

}  // namespace holdfast::history
