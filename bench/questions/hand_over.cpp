// How long from a release in one process to the grant in another that waits? Against a publish, its
// push and one script. And how often does the releasing process take the lock back at once?
#include "questions/questions.hpp"
#include "support/contest.hpp"
#include "support/measure.hpp"

namespace holdfast::bench {

namespace {

// Only where the other process had been waiting when the lock was released.
double median_microseconds(std::vector<turn> const& turns) {
    std::vector<double> microseconds;
    for (std::size_t i = 1; i < turns.size(); ++i) {
        auto const& from = turns[i - 1];
        auto const& to = turns[i];
        if (from.process != to.process && to.called < from.releasing) {
            microseconds.push_back(static_cast<double>(to.granted - from.releasing) / 1e3);
        }
    }
    return median(std::move(microseconds));
}

double percent_taken_back(std::vector<turn> const& turns) {
    int contested = 0;
    int taken_back = 0;
    for (std::size_t i = 1; i < turns.size(); ++i) {
        ++contested;
        taken_back += turns[i].process == turns[i - 1].process ? 1 : 0;
    }
    return contested == 0 ? 0.0 : 100.0 * taken_back / contested;
}

}  // namespace

figures hand_over(environment& env) {
    comparison latency{"hand_over", "us", {budget::kind::ratio_at_most, 1.25}};
    comparison taken_back{"hand_over_taken_back", "% of grants", {}};
    // The pause lets the other one win; the hold lets the one that released line up again.
    contest polite{.hold_us = 2000, .pause_us = 500, .duration_ms = env.amount(1200, 400)};
    contest eager{.hold_us = 500, .pause_us = 0, .duration_ms = env.amount(1000, 300)};
    for (int round = 0; round < env.rounds(); ++round) {
        env.progress(round);
        polite.bare = eager.bare = true;
        auto const floor = median_microseconds(hold_contest(env, polite));
        auto const floor_share = percent_taken_back(hold_contest(env, eager));
        polite.bare = eager.bare = false;
        auto const ours = median_microseconds(hold_contest(env, polite));
        auto const share = percent_taken_back(hold_contest(env, eager));
        latency.add(ours, floor);
        taken_back.add(share, floor_share);
    }
    return {latency.result("p50"), taken_back.result("2 processes without a pause; fair: 50")};
}

}  // namespace holdfast::bench
