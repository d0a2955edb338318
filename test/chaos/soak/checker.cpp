#include "soak/checker.hpp"

#include "soak/outages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <list>
#include <optional>
#include <tuple>
#include <utility>

namespace holdfast::soak {

namespace {

constexpr instant never = std::numeric_limits<instant>::max();

using op_key = std::pair<std::int64_t, std::int64_t>;  // process, op

double ms(instant duration) {
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

    [[nodiscard]] event const* answer() const { return granted ? granted : ended; }
};

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
    instant freed = 0;  // the server has said so; `never` if it has not

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

/// One run over one history.
class examination {
public:
    examination(rules const& by, std::vector<event> const& history, std::set<std::int64_t> dead)
        : rules_{by},
          history_{history},
          dead_{std::move(dead)} {}

    findings run(
        std::map<std::int64_t, std::int64_t>& newest_granted,
        std::map<std::int64_t, std::int64_t>& newest_accepted
    ) {
        for (auto const& e : history_) {
            take(e);
        }
        collect_grants();
        for (auto& [lock, grants] : grants_) {
            check_exclusion(lock, grants);
            check_after_loss(lock, grants);
            check_hand_overs(lock, grants);
            check_token_order(lock, grants, newest_granted[lock]);
        }
        check_resource(newest_accepted);
        for (auto const& [key, o] : operations_) {
            if (o.invoke) {
                check_answers(o);
                check_told(o);
            }
        }
        return std::move(result_);
    }

    [[nodiscard]] std::set<std::int64_t> const& dead() const { return dead_; }

private:
    template <class... Args>
    void blame(rule broken, event const& e, fmt::format_string<Args...> format, Args&&... args) {
        auto text = fmt::format(format, std::forward<Args>(args)...);
        result_.violations.push_back({broken, e.at, e.lock, e.process, std::move(text)});
    }

    // Reading

    void take(event const& e) {
        last_ = std::max(last_, e.at);
        switch (e.what) {
            case happening::fault: break;
            case happening::calm: calm_ = std::min(calm_, e.at); break;
            case happening::healed: healed_ = std::max(healed_, e.at); break;
            case happening::data_lost: losses_.push_back({e.since, e.at}); break;
            case happening::stalled:
                check_stall(e);
                somebody_stalled_.add(e.since, e.at);
                [[fallthrough]];
            case happening::paused: outages_[e.process].add(e.since, e.at); break;
            case happening::killed:
                dead_.insert(e.process);
                killed_[e.process] = e.at;
                break;
            case happening::clock_moved: clock_moved_ = true; break;
            case happening::unclean:
                blame(rule::clean_start, e, "there was {} at the start", e.word);
                break;
            case happening::left_behind:
                ++result_.counts.left_behind;
                blame(rule::nothing_left, e, "left behind: {}", e.word);
                break;
            case happening::stuck:
                blame(
                    rule::survival,
                    e,
                    "worker {} does not come to an end: {}",
                    e.process,
                    e.word
                );
                break;
            case happening::died:
                blame(rule::survival, e, "worker {} has ended: {}", e.process, e.word);
                break;
            case happening::read:
            case happening::written: accesses_.push_back(&e); break;
            default: take(operations_[{e.process, e.op}], e); break;
        }
    }

    void take(operation& o, event const& e) {
        if (e.what == happening::invoke) {
            once(o.invoke, e);
            return;
        }
        if (!o.invoke) {
            blame(rule::malformed, e, "{} without an invoke", name_of(e.what));
            return;
        }
        switch (e.what) {
            case happening::granted:
                ++result_.counts.grants;
                once(o.granted, e);
                o.deadline = e.deadline;
                if (o.ended) {
                    blame(rule::malformed, e, "a lease after an end");
                }
                break;
            case happening::no_lease:
            case happening::failed:
                once(o.ended, e);
                if (o.granted) {
                    blame(rule::malformed, e, "an end after a lease");
                }
                break;
            default: take_of_lease(o, e); break;
        }
    }

    void take_of_lease(operation& o, event const& e) {
        if (!o.granted) {
            blame(rule::malformed, e, "{} without a lease", name_of(e.what));
            return;
        }
        switch (e.what) {
            case happening::moved: move_deadline(o, e); break;
            case happening::looked:
                if (e.at >= e.deadline - rules_.loss_margin.count()) {
                    blame(
                        rule::validity,
                        e,
                        "the lease of op {} of worker {} was valid {:.3f} ms after its end",
                        e.op,
                        e.process,
                        ms(e.at - e.deadline + rules_.loss_margin.count())
                    );
                }
                break;
            case happening::renew: once(o.renew, e); break;
            case happening::renewed: answer_renewal(o, e); break;
            case happening::lost:
                ++result_.counts.told_lost;
                once(o.lost, e);
                break;
            case happening::releasing:
                move_deadline(o, e);
                once(o.releasing, e);
                break;
            case happening::released:
                if (!o.releasing) {
                    blame(rule::malformed, e, "released before that was asked for");
                }
                once(o.released, e);
                break;
            default: break;
        }
    }

    void once(event const*& place, event const& e) {
        if (place) {
            blame(rule::malformed, e, "{} twice", name_of(e.what));
        }
        place = &e;
    }

    void move_deadline(operation& o, event const& e) {
        // A lease that is known to be another holder's, or nobody's, ends at once.
        bool const over = e.deadline <= e.at;
        if (e.deadline < o.deadline && !over) {
            blame(
                rule::deadline,
                e,
                "the deadline of op {} of worker {} moved back by {:.3f} ms",
                e.op,
                e.process,
                ms(o.deadline - e.deadline)
            );
        }
        o.deadline = std::max(o.deadline, e.deadline);
    }

    void answer_renewal(operation& o, event const& e) {
        if (!o.renew) {
            blame(rule::malformed, e, "renewed before that was asked for");
            return;
        }
        o.renewals.emplace_back(o.renew, &e);
        o.renew = nullptr;
    }

    // Who keeps its own event loop busy has no excuse.
    void check_stall(event const& e) {
        auto const gap = e.at - e.since;
        if (gap >= rules_.longest_block.count() && e.limit >= gap / 5 * 4) {
            blame(
                rule::survival,
                e,
                "the event loop of worker {} was busy for {:.0f} ms",
                e.process,
                ms(gap)
            );
        }
    }

    // Grants

    [[nodiscard]] instant end_of_belief(operation const& o) const {
        if (o.releasing) {
            return o.releasing->at;
        }
        auto const killed = killed_.find(o.invoke->process);
        return killed == killed_.end() ? never : killed->second;
    }

    [[nodiscard]] static instant said_free(operation const& o) {
        return o.released && o.released->word == "ok" ? o.released->at : never;
    }

    void collect_grants() {
        std::map<std::tuple<std::int64_t, std::int64_t, holder_key>, grant> found;
        std::map<std::pair<std::int64_t, std::int64_t>, operation const*> first;
        for (auto const& [key, o] : operations_) {
            if (!o.granted) {
                continue;
            }
            auto const lock = o.granted->lock;
            auto const token = o.granted->token;
            auto const [same, is_first] = first.try_emplace({lock, token}, &o);
            if (!is_first && holder_of(*same->second) != holder_of(o)) {
                blame(
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
            g.until = std::max(g.until, end_of_belief(o));
            g.given_up = std::max(g.given_up, o.releasing ? o.releasing->at : never);
            g.deadline = std::max(g.deadline, o.deadline);
            g.freed = std::max(g.freed, said_free(o));
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

    // The server cannot have known of the one when it granted the other. A grant from before the
    // loss may have been on its way for a while.
    [[nodiscard]] bool explained(grant const& earlier, grant const& later) const {
        auto const on_its_way = rules_.lease.count() / 2;
        return clock_moved_ || std::any_of(losses_.begin(), losses_.end(), [&](auto const& loss) {
                   auto const& [since, to] = loss;
                   return later.from >= since && earlier.invoked <= to &&
                          earlier.from <= to + on_its_way;
               });
    }

    void check_exclusion(std::int64_t lock, std::vector<grant> const& grants) {
        std::vector<grant const*> standing;
        for (auto const& g : grants) {
            std::erase_if(standing, [&](grant const* s) {
                return std::max(s->until, s->reserved()) <= g.from;
            });
            for (auto const* const s : standing) {
                check_pair(lock, *s, g);
            }
            standing.push_back(&g);
        }
    }

    void check_pair(std::int64_t lock, grant const& earlier, grant const& later) {
        auto const overlap = std::min(earlier.until, later.until) - later.from;
        bool const two_holders = overlap > 0;
        if (two_holders) {
            ++(explained(earlier, later) ? result_.counts.explained_overlaps
                                         : result_.counts.overlaps);
        }
        if (explained(earlier, later)) {
            return;
        }
        event const where{.at = later.from, .process = later.process, .lock = lock};
        if (two_holders) {
            blame(
                rule::exclusion,
                where,
                "worker {} (token {}) and worker {} (token {}) both had it for {:.3f} ms",
                earlier.process,
                earlier.token,
                later.process,
                later.token,
                ms(overlap)
            );
        } else if (earlier.reserved() > later.from) {
            blame(
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

    // The deadline tells when the renewal was sent.
    void check_after_loss(std::int64_t lock, std::vector<grant> const& grants) {
        for (auto const& [since, to] : losses_) {
            for (auto const& g : grants) {
                if (g.from < since && g.deadline > to + rules_.lease.count()) {
                    blame(
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
            if (before.freed == never || before.freed < calm_ ||
                after.from - before.freed <= rules_.hand_over_within.count()) {
                continue;
            }
            for (auto const& [key, o] : operations_) {
                if (o.invoke && waited_over(o, lock, before.freed, after.from)) {
                    blame(
                        rule::hand_over,
                        {.at = after.from, .process = o.invoke->process, .lock = lock},
                        "free for {:.0f} ms while op {} of worker {} waited",
                        ms(after.from - before.freed),
                        o.invoke->op,
                        o.invoke->process
                    );
                    break;
                }
            }
        }
    }

    [[nodiscard]] bool waited_over(operation const& o, std::int64_t lock, instant from, instant to)
        const {
        auto const& asked = *o.invoke;
        auto const* const answer = o.answer();
        return asked.lock == lock && asked.limit < 0 && asked.at < from &&
               (!answer || answer->at >= to) &&
               somebody_stalled_.free_time(from, to) > rules_.hand_over_within.count();
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
                ++result_.counts.hand_overs;
            }
            newest = std::max(newest, g.token);
            if (g.believed()) {
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
        bool const excused = earlier && (explained(*earlier, later) || explained(later, *earlier));
        if (later.token <= floor && !excused) {
            event const where{.at = later.from, .process = later.process, .lock = lock};
            blame(rule::token_order, where, "token {} after token {}", later.token, floor);
        }
    }

    // The resource

    void check_resource(std::map<std::int64_t, std::int64_t>& newest_accepted) {
        for (auto const* const e : accesses_) {
            auto const found = operations_.find({e->process, e->op});
            bool const known = found != operations_.end() && found->second.granted;
            if (!known && !dead_.contains(e->process)) {
                blame(rule::malformed, *e, "the resource was used without a lease");
            } else if (known && found->second.granted->token != e->token) {
                blame(rule::malformed, *e, "the resource was used with another token");
            }
            auto& newest = newest_accepted[e->lock];
            bool const stale = e->token < newest;
            bool const taken = (e->flags & was_accepted) != 0;
            result_.counts.stale_offered += stale ? 1 : 0;
            if (stale && taken) {
                ++result_.counts.stale_accepted;
                blame(rule::stale_access, *e, "token {} accepted after {}", e->token, newest);
            }
            if (taken) {
                newest = std::max(newest, e->token);
            }
            if ((e->flags & undid_another) != 0) {
                ++result_.counts.lost_updates;
                blame(rule::lost_update, *e, "a write with token {} undid another", e->token);
            }
            result_.counts.lost_without_token += (e->flags & undid_without_token) != 0 ? 1 : 0;
        }
    }

    // What every caller is owed

    [[nodiscard]] instant free_time(std::int64_t process, instant from, instant to) const {
        auto const found = outages_.find(process);
        return found == outages_.end() ? std::max<instant>(to - from, 0)
                                       : found->second.free_time(from, to);
    }

    [[nodiscard]] bool was_killed(std::int64_t process) const { return killed_.contains(process); }

    void check_limit(event const& asked, char const* what, instant due, instant answered) {
        auto const late = free_time(asked.process, due, answered);
        if (late > rules_.slack.count()) {
            blame(
                rule::promptness,
                asked,
                "the {} of op {} of worker {} was answered {:.0f} ms late",
                what,
                asked.op,
                asked.process,
                ms(late)
            );
        }
    }

    void check_answers(operation const& o) {
        auto const& asked = *o.invoke;
        auto const* const answer = o.answer();
        if (!answer && !was_killed(asked.process)) {
            blame(
                rule::progress,
                asked,
                "op {} of worker {} ({}) was never answered",
                asked.op,
                asked.process,
                asked.word
            );
        }
        if (answer) {
            check_patience(asked, *answer);
        }
        if (o.granted) {
            check_fresh(o);
        }
        for (auto const& [begun, ended] : o.renewals) {
            check_limit(*begun, "renewal", begun->at + rules_.renew_within.count(), ended->at);
        }
        if (o.releasing && o.released) {
            auto const due = o.releasing->at + rules_.release_within.count();
            check_limit(*o.releasing, "release", due, o.released->at);
        }
    }

    void check_patience(event const& asked, event const& answer) {
        if (asked.limit >= 0) {
            check_limit(asked, "acquisition", asked.at + asked.limit, answer.at);
            return;
        }
        auto const from = std::max(asked.at, healed_);
        auto const waited = somebody_stalled_.free_time(from, answer.at);
        if (waited > rules_.grant_within.count()) {
            blame(
                rule::progress,
                asked,
                "op {} of worker {} waited {:.0f} ms with nothing in its way but others",
                asked.op,
                asked.process,
                ms(waited)
            );
        }
        if (healed_ > 0 && asked.at < healed_ && answer.at > healed_ &&
            answer.what == happening::granted) {
            auto& slowest = result_.counts.slowest_recovery;
            slowest = std::max(slowest, nanos{answer.at - healed_});
        }
    }

    // It may end on its way: as soon as its holder can be told, he is.
    void check_fresh(operation const& o) {
        auto const& g = *o.granted;
        auto const over = g.deadline - rules_.loss_margin.count();
        if (free_time(g.process, over, g.at) >= rules_.time_to_tell.count()) {
            blame(
                rule::dead_on_arrival,
                g,
                "the lease of op {} of worker {} was over when it was handed out",
                g.op,
                g.process
            );
        }
    }

    void check_told(operation const& o) {
        if (!o.granted) {
            return;
        }
        auto const& g = *o.granted;
        auto const deadline = o.deadline;
        bool const late = o.lost && o.lost->at >= deadline;
        bool const never_told = !o.lost && std::min(end_of_belief(o), last_) >= deadline;
        if (!late && !never_told) {
            return;
        }
        auto const from = std::max(g.at, deadline - rules_.loss_margin.count());
        if (free_time(g.process, from, deadline) < rules_.time_to_tell.count()) {
            ++result_.counts.excused;
            return;
        }
        blame(
            rule::told_in_time,
            late ? *o.lost : g,
            "the holder of op {} of worker {} was {} {:.3f} ms {}",
            g.op,
            g.process,
            late ? "told of the loss" : "not told of the loss until",
            ms((late ? o.lost->at : std::min(end_of_belief(o), last_)) - deadline),
            "after the deadline"
        );
    }

    rules rules_;
    std::vector<event> const& history_;
    std::set<std::int64_t> dead_;
    findings result_;

    std::map<op_key, operation> operations_;
    std::map<std::int64_t, std::vector<grant>> grants_;  // by lock
    std::vector<event const*> accesses_;
    std::vector<std::pair<instant, instant>> losses_;
    std::map<std::int64_t, outages> outages_;  // by process
    outages somebody_stalled_;                 // one holder that cannot run keeps others waiting
    std::map<std::int64_t, instant> killed_;   // by process
    bool clock_moved_ = false;
    instant calm_ = never;
    instant healed_ = 0;
    instant last_ = 0;
};

// Stable. (What libstdc++'s std::stable_sort uses is deprecated, says Clang.)
void sort_by_time(std::vector<event>& history) {
    std::list<event> all{
        std::make_move_iterator(history.begin()),
        std::make_move_iterator(history.end())
    };
    all.sort([](event const& a, event const& b) { return a.at < b.at; });
    history.assign(std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()));
}

}  // namespace

std::string_view name_of(rule broken) {
    switch (broken) {
        case rule::malformed: return "malformed history";
        case rule::clean_start: return "clean start";
        case rule::exclusion: return "exclusion";
        case rule::deadline: return "deadline";
        case rule::data_loss: return "data loss";
        case rule::dead_on_arrival: return "dead on arrival";
        case rule::validity: return "validity";
        case rule::token_order: return "token order";
        case rule::token_reuse: return "token reuse";
        case rule::stale_access: return "stale access";
        case rule::lost_update: return "lost update";
        case rule::told_in_time: return "told in time";
        case rule::progress: return "progress";
        case rule::hand_over: return "hand-over";
        case rule::promptness: return "promptness";
        case rule::nothing_left: return "nothing left";
        case rule::survival: return "survival";
    }
    return "?";
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
    slowest_recovery = std::max(slowest_recovery, other.slowest_recovery);
    return *this;
}

findings checker::check(std::vector<event>& history) {
    sort_by_time(history);
    examination run{rules_, history, dead_};
    auto found = run.run(newest_granted_, newest_accepted_);
    dead_ = run.dead();
    return found;
}

}  // namespace holdfast::soak
