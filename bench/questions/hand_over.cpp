// How long from a release in one process to the grant in another that waits? Against a publish, its
// push and one script. And how often does the releasing process take the lock back at once?
#include "questions/questions.hpp"
#include "support/contest.hpp"
#include "support/measure.hpp"

namespace holdfast::bench {

namespace {

// Only where the other process had been waiting when the lock was released.
std::vector<double> microseconds(std::vector<turn> const& turns) {
    std::vector<double> result;
    for (std::size_t i = 1; i < turns.size(); ++i) {
        auto const& from = turns[i - 1];
        auto const& to = turns[i];
        if (from.process != to.process && to.called < from.releasing) {
            result.push_back(static_cast<double>(to.granted - from.releasing) / 1e3);
        }
    }
    return result;
}

struct outcome {
    std::vector<double> microseconds;
    double percent_taken_back;
};

// The pause lets the other one win; the hold lets the one that released line up again.
outcome measure(environment& env, std::string const& kind) {
    contest const polite{
        .sides = {{.kind = kind, .hold_us = 2000, .pause_us = 500}},
        .duration_ms = env.amount(800, 400),
    };
    contest const eager{
        .sides = {{.kind = kind, .hold_us = 500}},
        .duration_ms = env.amount(400, 300),
    };
    return {
        microseconds(hold_contest(env, polite).turns),
        hold_contest(env, eager).percent_taken_back(),
    };
}

}  // namespace

figures hand_over(environment& env) {
    comparison p50{"hand_over", "us", {budget::kind::ratio_at_most, 0.75}};
    comparison p99{"hand_over_p99", "us", {}};
    comparison taken_back{
        "hand_over_taken_back",
        "% of grants",
        {budget::kind::ours_at_most, 50.0 + 10.0}
    };
    auto const rounds = env.rounds(9);
    for (int round = 0; round < rounds; ++round) {
        env.progress(round, rounds);
        auto const floor = measure(env, "bare");
        auto const ours = measure(env, "ours");
        p50.add(median(ours.microseconds), median(floor.microseconds));
        p99.add(quantile(ours.microseconds, 0.99), quantile(floor.microseconds, 0.99));
        taken_back.add(ours.percent_taken_back, floor.percent_taken_back);
    }
    return {
        p50.result("p50"),
        p99.result("p99"),
        taken_back.result("2 processes without a pause; fair: 50"),
    };
}

}  // namespace holdfast::bench
