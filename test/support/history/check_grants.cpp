#include "support/history/checks.hpp"
#include "support/history/standing.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace holdfast::history {

namespace {

/// One grant of the server: one operation, or several of one owner.
struct grant {
    std::int64_t process = 0;
    std::int64_t token = 0;
    instant invoked = never;
    instant from = never;
    instant until = 0;     // the holder believed in it
    instant given_up = 0;  // from then on the server may have been told
    instant deadline = 0;
    instant told = never;
    instant freed = 0;  // the server has said so, or the process died; `never` if neither

    [[nodiscard]] bool believed() const { return from < until; }
    /// Nobody else may have the lock before.
    [[nodiscard]] instant reserved() const { return std::min(given_up, deadline); }
};

// Whoever may be the holder under one token.
using holder_key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // process, owner, op

holder_key holder_of(operation const& o) {
    auto const& i = *o.invoke;
    return {i.process, i.owner, i.owner == 0 ? i.op : 0};
}

class grants_check {
public:
    grants_check(rules const& by, record const& said, findings& found)
        : rules_{by},
          said_{said},
          found_{found} {
        collect_grants();
    }

    void run(std::map<std::int64_t, std::int64_t>& newest) {
        for (auto const* const e : said_.minorities) {
            check_majority(*e);
        }
        for (auto& [lock, grants] : grants_) {
            check_after_loss(lock, grants);
            if (rules_.permits > 0) {
                continue;  // several hold them at a time, and are told in any order
            }
            check_exclusion(lock, grants);
            check_hand_overs(lock, grants);
            check_token_order(lock, grants, newest[lock]);
        }
    }

private:
    [[nodiscard]] instant freed(operation const& o) const {
        if (o.released && o.released->word == "ok") {
            return o.released->at;
        }
        auto const death = said_.killed.find(o.invoke->process);
        return death == said_.killed.end() ? never : death->second;
    }

    void collect_grants() {
        std::map<std::tuple<std::int64_t, std::int64_t, holder_key>, grant> found;
        std::map<std::pair<std::int64_t, std::int64_t>, operation const*> first;
        for (auto const& [key, o] : said_.operations) {
            if (!o.granted) {
                continue;
            }
            auto const lock = o.granted->lock;
            auto const token = o.granted->token;
            if (token == 0 && rules_.tokens) {
                found_.blame(
                    rule::token_order,
                    *o.granted,
                    "op {} of worker {} was granted the lock without a token",
                    o.granted->op,
                    o.granted->process
                );
            }
            auto const [same, is_first] = first.try_emplace({lock, token}, &o);
            if (token != 0 && !is_first && holder_of(*same->second) != holder_of(o)) {
                found_.blame(
                    rule::token_reuse,
                    *o.granted,
                    "token {} was given to op {} of worker {} and to op {} of worker {}",
                    token,
                    same->second->invoke->op,
                    same->second->invoke->process,
                    o.invoke->op,
                    o.invoke->process
                );
            }
            auto& g = found[{lock, token, holder_of(o)}];
            g.process = o.invoke->process;
            g.token = token;
            g.invoked = std::min(g.invoked, o.invoke->at);
            g.from = std::min(g.from, o.granted->at);
            g.until = std::max(g.until, said_.end_of_belief(o));
            g.given_up = std::max(g.given_up, o.releasing ? o.releasing->at : never);
            g.deadline = std::max(g.deadline, o.deadline);
            g.freed = std::max(g.freed, freed(o));
            g.told = std::min(g.told, o.lost ? o.lost->at : never);
        }
        for (auto& [key, g] : found) {
            g.until = std::min({g.until, g.told, g.deadline - rules_.loss_margin.count()});
            grants_[std::get<0>(key)].push_back(g);
        }
        for (auto& [lock, grants] : grants_) {
            std::sort(grants.begin(), grants.end(), [](grant const& a, grant const& b) {
                return std::tie(a.from, a.token) < std::tie(b.from, b.token);
            });
        }
    }

    // A client's holder passes the lock to another one of the same client under its own deadline.
    [[nodiscard]] bool began_by(instant to, std::int64_t lock, grant const& g) const {
        auto const& all = grants_.at(lock);
        return std::any_of(all.begin(), all.end(), [&](grant const& first) {
            return first.process == g.process && first.deadline == g.deadline &&
                   first.invoked <= to;
        });
    }

    // The server cannot have known of the one when it granted the other. A grant from before the
    // loss may have been on its way for a while; so may one that a client's holder has passed to
    // another one of the same client before it knew of the loss.
    [[nodiscard]] bool explained(std::int64_t lock, grant const& earlier, grant const& later)
        const {
        auto const on_its_way = rules_.lease.count() / 2;
        auto const by_loss = [&](auto const& loss) {
            auto const& [since, to] = loss;
            return later.from >= since && earlier.from <= to + on_its_way &&
                   began_by(to, lock, earlier);
        };
        auto const by_change = [&](change const& of) {
            // A client that is told leaves the former server; on a busy machine that takes a while.
            auto const had = said_.somebody_stalled.free_time(of.to, earlier.from);
            return of.loses_writes() && of.concerns(lock) && later.from >= of.since &&
                   earlier.from <= of.last_lost + on_its_way && had <= on_its_way;
        };
        return said_.clock_moved ||
               std::any_of(said_.losses.begin(), said_.losses.end(), by_loss) ||
               std::any_of(said_.changes.begin(), said_.changes.end(), by_change);
    }

    void check_exclusion(std::int64_t lock, std::vector<grant> const& grants) {
        standing<grant const*, grant const*> holders;
        for (auto const& g : grants) {
            holders.erase_if([&](grant const* s) {
                return std::max(s->until, s->reserved()) <= g.from;
            });
            // All leases of one holder are one grant here.
            holders.add({.who = &g, .holder = &g}, [&](grant const* s) {
                check_pair(lock, *s, g);
            });
        }
    }

    void check_pair(std::int64_t lock, grant const& earlier, grant const& later) {
        auto const overlap = std::min(earlier.until, later.until) - later.from;
        bool const two_holders = overlap > 0;
        // A process that was stopped may see its grant after one that the server made later.
        bool const in_order = earlier.token <= later.token;
        bool const is_explained =
            in_order ? explained(lock, earlier, later) : explained(lock, later, earlier);
        if (two_holders) {
            ++(is_explained ? found_.counts.explained_overlaps : found_.counts.overlaps);
        }
        if (is_explained) {
            return;
        }
        event const where{.at = later.from, .process = later.process, .lock = lock};
        if (two_holders) {
            found_.blame(
                rule::exclusion,
                where,
                "worker {} (token {}) and worker {} (token {}) both had it for {:.3f} ms",
                earlier.process,
                earlier.token,
                later.process,
                later.token,
                ms(overlap)
            );
        } else if (earlier.reserved() > later.from && (in_order || later.believed())) {
            found_.blame(
                rule::deadline,
                where,
                "worker {} (token {}) got it {:.3f} ms before the deadline of worker {} (token {})",
                later.process,
                later.token,
                ms(earlier.reserved() - later.from),
                earlier.process,
                earlier.token
            );
        }
    }

    // The deadline tells when the request was sent.
    void check_majority(event const& none) {
        for (auto const& [key, o] : said_.operations) {
            if (o.granted && o.granted->at >= none.since && o.granted->at <= none.at &&
                o.granted->deadline > none.since + rules_.lease.count()) {
                found_.blame(
                    rule::majority,
                    *o.granted,
                    "op {} of worker {} was granted the lock without a majority",
                    o.granted->op,
                    o.granted->process
                );
            }
            if (o.ended && o.ended->word == "busy" && o.invoke->word == "tried" &&
                o.invoke->at >= none.since && o.ended->at <= none.deadline) {
                found_.blame(
                    rule::majority,
                    *o.ended,
                    "op {} of worker {} took the lock for busy without a majority",
                    o.ended->op,
                    o.ended->process
                );
            }
        }
    }

    // The deadline tells when the renewal was sent.
    void check_after_loss(std::int64_t lock, std::vector<grant> const& grants) {
        for (auto const& [since, to] : said_.losses) {
            for (auto const& g : grants) {
                if (g.from < since && g.deadline > to + rules_.lease.count()) {
                    found_.blame(
                        rule::data_loss,
                        {.at = to, .process = g.process, .lock = lock},
                        "token {} of worker {} was renewed after its key was lost, until {:.3f} ms "
                        "after that",
                        g.token,
                        g.process,
                        ms(g.deadline - to)
                    );
                }
            }
        }
    }

    void check_hand_overs(std::int64_t lock, std::vector<grant> const& grants) {
        for (std::size_t i = 1; i < grants.size(); ++i) {
            auto const& before = grants[i - 1];
            auto const& after = grants[i];
            if (before.freed == never || before.freed < said_.calm) {
                continue;
            }
            auto const free = free_since(before.freed, after.from);
            if (after.from - free <= rules_.hand_over_within.count()) {
                continue;
            }
            for (auto const& [key, o] : said_.operations) {
                if (o.invoke && waited_over(o, lock, free, after.from)) {
                    found_.blame(
                        rule::hand_over,
                        {.at = after.from, .process = o.invoke->process, .lock = lock},
                        "free for {:.0f} ms while op {} of worker {} waited",
                        ms(after.from - free),
                        o.invoke->op,
                        o.invoke->process
                    );
                    break;
                }
            }
        }
    }

    // A process that was killed may have been granted it, and keeps it for a lease.
    [[nodiscard]] instant free_since(instant freed, instant to) const {
        auto free = freed;
        for (auto const& [process, at] : said_.killed) {
            if (at >= freed && at <= to) {
                free = std::max(free, at + rules_.lease.count());
            }
        }
        return free;
    }

    [[nodiscard]] bool waited_over(operation const& o, std::int64_t lock, instant from, instant to)
        const {
        auto const& asked = *o.invoke;
        auto const* const answer = o.answer();
        return asked.lock == lock && asked.limit < 0 && asked.at < from &&
               (answer ? answer->at >= to : !said_.was_killed(asked.process)) &&
               said_.somebody_stalled.free_time(from, to) > rules_.hand_over_within.count();
    }

    // One who was handed a lease that was over already may have been granted it before the other.
    void check_token_order(
        std::int64_t lock,
        std::vector<grant> const& grants,
        std::int64_t& newest
    ) {
        auto const known = newest;
        grant const* before = nullptr;
        grant const* believed_before = nullptr;
        for (auto const& g : grants) {
            auto const* const previous = std::exchange(before, &g);
            if (previous && previous->process != g.process) {
                ++found_.counts.hand_overs;
            }
            newest = std::max(newest, g.token);
            if (g.believed() && g.token != 0) {
                check_token(lock, std::exchange(believed_before, &g), g, known);
            }
        }
    }

    void check_token(
        std::int64_t lock,
        grant const* earlier,
        grant const& later,
        std::int64_t known
    ) {
        auto const floor = earlier ? earlier->token : known;
        bool const excused =
            earlier && (explained(lock, *earlier, later) || explained(lock, later, *earlier));
        if (later.token <= floor && !excused) {
            event const where{.at = later.from, .process = later.process, .lock = lock};
            found_.blame(rule::token_order, where, "token {} after token {}", later.token, floor);
        }
    }

    rules const& rules_;
    record const& said_;
    findings& found_;
    std::map<std::int64_t, std::vector<grant>> grants_;  // by lock
};

}  // namespace

void check_grants(
    rules const& by,
    record const& said,
    std::map<std::int64_t, std::int64_t>& newest,
    findings& found
) {
    grants_check{by, said, found}.run(newest);
}

}  // namespace holdfast::history
