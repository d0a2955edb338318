#include "support/history/record.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::history {

namespace {

class reader {
public:
    reader(rules const& by, record& into, findings& found)
        : rules_{by},
          said_{into},
          found_{found} {}

    void take(event const& e) {
        said_.last = std::max(said_.last, e.at);
        switch (e.what) {
            case happening::fault: break;
            case happening::calm: said_.calm = std::min(said_.calm, e.at); break;
            case happening::healed: said_.healed = std::max(said_.healed, e.at); break;
            case happening::data_lost:
                said_.losses.push_back({e.since, e.at});
                if (e.word != "permits") {
                    said_.losses_of_all.push_back({e.since, e.at});
                }
                break;
            case happening::no_majority: said_.minorities.push_back(&e); break;
            case happening::observes:
            case happening::observed: said_.observations.push_back(&e); break;
            case happening::failed_over: take_change(e, e.deadline); break;
            case happening::switched: take_change(e, never); break;
            case happening::redirected: said_.redirections.push_back(&e); break;
            case happening::stalled:
                check_stall(e);
                said_.somebody_stalled.add(e.since, e.at);
                [[fallthrough]];
            case happening::paused: said_.outages_of[e.process].add(e.since, e.at); break;
            case happening::killed:
                said_.dead.insert(e.process);
                said_.killed[e.process] = e.at;
                break;
            case happening::clock_moved: said_.clock_moved = true; break;
            case happening::unclean:
                found_.blame(rule::clean_start, e, "there was {} at the start", e.word);
                break;
            case happening::left_behind:
                ++found_.counts.left_behind;
                found_.blame(rule::nothing_left, e, "left behind: {}", e.word);
                break;
            case happening::stuck:
                found_.blame(
                    rule::survival,
                    e,
                    "worker {} does not come to an end: {}",
                    e.process,
                    e.word
                );
                break;
            case happening::died:
                found_.blame(rule::survival, e, "worker {} has ended: {}", e.process, e.word);
                break;
            case happening::read:
            case happening::written: said_.accesses.push_back(&e); break;
            default: take(said_.operations[{e.process, e.op}], e); break;
        }
    }

private:
    void take_change(event const& e, instant last_lost) {
        bool const migration = e.word == "migration";
        said_.changes.push_back({e.since, e.at, last_lost, e.locks, migration});
        ++(migration ? found_.counts.migrations : found_.counts.failovers);
    }

    void take(operation& o, event const& e) {
        if (e.what == happening::invoke) {
            once(o.invoke, e);
            return;
        }
        if (!o.invoke) {
            found_.blame(rule::malformed, e, "{} without an invoke", name_of(e.what));
            return;
        }
        switch (e.what) {
            case happening::granted:
                ++found_.counts.grants;
                once(o.granted, e);
                o.deadline = e.deadline;
                if (o.ended) {
                    found_.blame(rule::malformed, e, "a lease after an end");
                }
                break;
            case happening::no_lease:
            case happening::failed:
                once(o.ended, e);
                if (o.granted) {
                    found_.blame(rule::malformed, e, "an end after a lease");
                }
                break;
            default: take_of_lease(o, e); break;
        }
    }

    void take_of_lease(operation& o, event const& e) {
        if (!o.granted) {
            found_.blame(rule::malformed, e, "{} without a lease", name_of(e.what));
            return;
        }
        switch (e.what) {
            case happening::moved: move_deadline(o, e); break;
            case happening::looked:
                if (auto const end = e.deadline - margin_of(rules_, o, e.deadline); e.at >= end) {
                    found_.blame(
                        rule::validity,
                        e,
                        "the lease of op {} of worker {} was valid {:.3f} ms after its end",
                        e.op,
                        e.process,
                        ms(e.at - end)
                    );
                }
                break;
            case happening::renew: once(o.renew, e); break;
            case happening::renewed: answer_renewal(o, e); break;
            case happening::lost:
                ++found_.counts.told_lost;
                once(o.lost, e);
                break;
            case happening::releasing:
                move_deadline(o, e);
                once(o.releasing, e);
                break;
            case happening::released:
                if (!o.releasing) {
                    found_.blame(rule::malformed, e, "released before that was asked for");
                }
                once(o.released, e);
                break;
            default: break;
        }
    }

    void once(event const*& place, event const& e) {
        if (place) {
            found_.blame(rule::malformed, e, "{} twice", name_of(e.what));
        }
        place = &e;
    }

    void move_deadline(operation& o, event const& e) {
        // A lease that is known to be another holder's, or nobody's, ends at once.
        bool const over = e.deadline <= e.at;
        if (rules_.quorum && e.deadline < o.deadline) {
            o.cut_short = o.cut_short || over;
            o.deadline = over ? e.at : e.deadline;
            return;
        }
        if (e.deadline < o.deadline && !over) {
            found_.blame(
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
            found_.blame(rule::malformed, e, "renewed before that was asked for");
            return;
        }
        o.renewals.emplace_back(o.renew, &e);
        o.renew = nullptr;
    }

    // Who keeps its own event loop busy has no excuse.
    void check_stall(event const& e) {
        auto const gap = e.at - e.since;
        if (gap >= rules_.longest_block.count() && e.limit >= gap / 5 * 4) {
            found_.blame(
                rule::survival,
                e,
                "the event loop of worker {} was busy for {:.0f} ms",
                e.process,
                ms(gap)
            );
        }
    }

    rules const& rules_;
    record& said_;
    findings& found_;
};

}  // namespace

record read_record(
    rules const& by,
    std::vector<event> const& history,
    std::set<std::int64_t> dead,
    findings& found
) {
    record said;
    said.dead = std::move(dead);
    reader reads{by, said, found};
    for (auto const& e : history) {
        reads.take(e);
    }
    return said;
}

instant margin_of(rules const& by, operation const& o, instant deadline) {
    auto const margin = by.quorum ? 0 : by.loss_margin.count();
    if (deadline != o.granted->deadline) {
        return margin;
    }
    auto const time = static_cast<double>(deadline - o.granted->at);
    auto const part = time / static_cast<double>(by.lease.count());
    return std::min(margin, static_cast<instant>(part * static_cast<double>(margin)));
}

instant record::end_of_belief(operation const& o) const {
    if (o.releasing) {
        return o.releasing->at;
    }
    auto const end = killed.find(o.invoke->process);
    return end == killed.end() ? never : end->second;
}

instant record::free_time(std::int64_t process, instant from, instant to) const {
    auto const found = outages_of.find(process);
    return found == outages_of.end() ? std::max<instant>(to - from, 0)
                                     : found->second.free_time(from, to);
}

}  // namespace holdfast::history
