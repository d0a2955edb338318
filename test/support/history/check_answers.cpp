#include "support/history/checks.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

namespace holdfast::history {

namespace {

class answers_check {
public:
    answers_check(rules const& by, record const& said, findings& found)
        : rules_{by},
          said_{said},
          found_{found} {}

    void run() {
        for (auto const& [key, o] : said_.operations) {
            if (o.invoke) {
                check_answers(o);
                check_told(o);
                check_renewed(o);
            }
        }
    }

private:
    void check_limit(event const& asked, char const* what, instant due, instant answered) {
        auto const late = said_.free_time(asked.process, due, answered);
        if (late > rules_.slack.count()) {
            found_.blame(
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
        if (!answer && !said_.was_killed(asked.process)) {
            found_.blame(
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
        auto const from = std::max(asked.at, said_.healed);
        auto const waited = said_.somebody_stalled.free_time(from, answer.at);
        if (waited > rules_.grant_within.count()) {
            found_.blame(
                rule::progress,
                asked,
                "op {} of worker {} waited {:.0f} ms with nothing in its way but others",
                asked.op,
                asked.process,
                ms(waited)
            );
        }
        if (said_.healed > 0 && asked.at < said_.healed && answer.at > said_.healed &&
            answer.what == happening::granted) {
            auto& slowest = found_.counts.slowest_recovery;
            slowest = std::max(slowest, nanos{answer.at - said_.healed});
        }
    }

    // An owner has joined a lease of its own: that one's first lease.
    [[nodiscard]] operation const* joined_by(operation const& o) const {
        operation const* first = nullptr;
        for (auto const& [key, other] : said_.operations) {
            bool const same = other.granted && other.invoke->owner == o.invoke->owner &&
                              other.granted->process == o.granted->process &&
                              other.granted->lock == o.granted->lock &&
                              other.granted->token == o.granted->token;
            if (same && other.granted->at < (first ? first : &o)->granted->at) {
                first = &other;
            }
        }
        return first;
    }

    // It may end on its way: as soon as its holder can be told, he is.
    void check_fresh(operation const& o) {
        auto const& g = *o.granted;
        auto const* const joined = o.invoke->owner == 0 ? nullptr : joined_by(o);
        auto const margin =
            joined ? margin_of(rules_, *joined, g.deadline) : rules_.loss_margin.count();
        auto over = g.deadline - margin;
        if (g.deadline <= g.at) {
            // The worker noted the present. A lease that the server lost stood until then.
            for (auto const& [since, to] : said_.losses) {
                over = since <= g.at ? std::max(over, since) : over;
            }
        }
        if (said_.free_time(g.process, over, g.at) >= rules_.time_to_tell.count()) {
            found_.blame(
                rule::dead_on_arrival,
                g,
                "the lease of op {} of worker {} was over when it was handed out",
                g.op,
                g.process
            );
        }
    }

    void check_told(operation const& o) {
        if (!o.granted || o.cut_short) {
            return;
        }
        auto const& g = *o.granted;
        auto const deadline = o.deadline;
        // Who has begun to release it does not believe in it any more.
        bool const believed = std::min(said_.end_of_belief(o), said_.last) >= deadline;
        bool const late = believed && o.lost && o.lost->at >= deadline;
        bool const never_told = believed && !o.lost;
        if (!late && !never_told) {
            return;
        }
        auto const from = std::max(g.at, deadline - rules_.loss_margin.count());
        if (said_.free_time(g.process, from, deadline) < rules_.time_to_tell.count()) {
            ++found_.counts.excused;
            return;
        }
        found_.blame(
            rule::told_in_time,
            late ? *o.lost : g,
            "the holder of op {} of worker {} was {} {:.3f} ms {}",
            g.op,
            g.process,
            late ? "told of the loss" : "not told of the loss until",
            ms((late ? o.lost->at : std::min(said_.end_of_belief(o), said_.last)) - deadline),
            "after the deadline"
        );
    }

    // With nothing in the way since its last renewal was due, it had to be renewed.
    void check_renewed(operation const& o) {
        if (!o.lost || o.invoke->word == "fixed") {
            return;
        }
        auto const from = o.lost->at - rules_.lease.count();
        bool const calm = from >= said_.calm && !said_.clock_moved;
        if (calm && said_.somebody_stalled.free_time(from, o.lost->at) == o.lost->at - from) {
            found_.blame(
                rule::renewal,
                *o.lost,
                "the lease of op {} of worker {} was lost in calm times: {}",
                o.invoke->op,
                o.invoke->process,
                o.lost->word
            );
        }
    }

    rules const& rules_;
    record const& said_;
    findings& found_;
};

}  // namespace

void check_answers(rules const& by, record const& said, findings& found) {
    answers_check{by, said, found}.run();
}

}  // namespace holdfast::history
