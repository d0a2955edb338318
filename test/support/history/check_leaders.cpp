#include "support/history/checks.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace holdfast::history {

namespace {

class leaders_check {
public:
    leaders_check(rules const& by, record const& said, findings& found)
        : rules_{by},
          said_{said},
          found_{found} {
        for (auto const* const e : said.observations) {
            observers_[{e->process, e->op}].push_back(e);
        }
        for (auto const& [key, o] : said.operations) {
            if (o.granted) {
                leaders_.emplace(std::pair{o.granted->lock, o.granted->token}, &o);
            }
        }
    }

    void run() {
        for (auto const& [key, seen] : observers_) {
            check_order(seen);
            check_processes(seen);
            for (auto const& [term, leader] : leaders_) {
                if (term.first == seen.front()->lock) {
                    check_seen(*leader, seen);
                }
            }
        }
    }

private:
    using observer = std::vector<event const*>;

    void check_order(observer const& seen) {
        std::int64_t newest = 0;
        for (auto const* const e : seen) {
            if (e->what != happening::observed) {
                continue;
            }
            ++found_.counts.leaders_seen;
            if (e->token < newest) {
                found_.blame(
                    rule::observation,
                    *e,
                    "an observer in worker {} saw term {} after {}",
                    e->process,
                    e->token,
                    newest
                );
            }
            newest = std::max(newest, e->token);
        }
    }

    // Who was killed, or did not know that it leads, has written nothing down.
    void check_processes(observer const& seen) {
        for (auto const* const e : seen) {
            auto const leader = leaders_.find({e->lock, e->token});
            bool const known = e->what == happening::observed && leader != leaders_.end();
            if (known && leader->second->invoke->process != e->owner) {
                found_.blame(
                    rule::observation,
                    *e,
                    "an observer in worker {} took worker {} for the leader of term {}",
                    e->process,
                    e->owner,
                    e->token
                );
            }
        }
    }

    void check_seen(operation const& leader, observer const& seen) {
        auto const& who = *seen.front();
        auto const calm = std::min(said_.calm, said_.healed > 0 ? said_.healed : never);
        auto const from = std::max({leader.granted->at, who.at, calm});
        auto const first = std::find_if(seen.begin(), seen.end(), [&](event const* e) {
            return e->what == happening::observed && e->token >= leader.granted->token;
        });
        auto to = std::min({said_.end_of_belief(leader), leader.deadline, said_.last});
        to = first == seen.end() ? to : std::min(to, (*first)->at);
        to = leader.lost ? std::min(to, leader.lost->at) : to;
        if (auto const death = said_.killed.find(who.process); death != said_.killed.end()) {
            to = std::min(to, death->second);
        }
        auto const unseen = said_.somebody_stalled.free_time(from, to);
        if (unseen > rules_.observe_within.count()) {
            found_.blame(
                rule::observation,
                *leader.granted,
                "an observer in worker {} did not see term {} for {:.0f} ms",
                who.process,
                leader.granted->token,
                ms(unseen)
            );
        }
    }

    rules const& rules_;
    record const& said_;
    findings& found_;
    std::map<op_key, observer> observers_;
    std::map<std::pair<std::int64_t, std::int64_t>, operation const*> leaders_;  // by lock and term
};

}  // namespace

void check_leaders(rules const& by, record const& said, findings& found) {
    leaders_check{by, said, found}.run();
}

}  // namespace holdfast::history
