// How long from a release in one process to the grant in another that waits? Against a publish, its
// push and one script. And how often does the releasing process take the lock back at once?
#include "questions/questions.hpp"
#include "support/contest.hpp"
#include "support/measure.hpp"
#include "support/tcp_proxy.hpp"

#include <chrono>
#include <cstdint>

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

// The pause lets the other one win; the hold lets the one that released line up again.
std::vector<double> hand_overs(environment& env, std::string const& kind, std::uint16_t port = 0) {
    bool const far = port != 0;
    contest const polite{
        .sides = {{.kind = kind, .hold_us = far ? 10'000 : 2000, .pause_us = 500, .port = port}},
        .duration_ms = far ? 1000 : 400,
    };
    return microseconds(hold_contest(env, polite).turns);
}

void compare(environment& env, comparison& p50, int rounds, std::uint16_t port = 0) {
    for (int round = 0; round < rounds; ++round) {
        env.progress(round, rounds);
        auto const floor = hand_overs(env, "bare", port);
        p50.add(median(hand_overs(env, "ours", port)), median(floor));
    }
}

double percent_taken_back(environment& env, std::string const& kind) {
    contest const eager{
        .sides = {{.kind = kind, .hold_us = 500}},
        .duration_ms = 400,
    };
    return hold_contest(env, eager).percent_taken_back();
}

}  // namespace

figures hand_over(environment& env) {
    comparison p50{"hand_over", "us", {budget::kind::ratio_at_most, 0.85}};
    comparison p99{"hand_over_p99", "us", {}};
    comparison taken_back{
        "hand_over_taken_back",
        "% of grants",
        {budget::kind::ours_at_most, 50.0 + 10.0}
    };
    auto const rounds = env.short_rounds();
    for (int round = 0; round < rounds; ++round) {
        env.progress(round, rounds);
        auto const floor = hand_overs(env, "bare");
        auto const ours = hand_overs(env, "ours");
        p50.add(median(ours), median(floor));
        p99.add(quantile(ours, 0.99), quantile(floor, 0.99));
    }
    for (int round = 0; round < env.rounds(); ++round) {
        taken_back.add(percent_taken_back(env, "ours"), percent_taken_back(env, "bare"));
    }
    return {
        p50.result("p50"),
        p99.result("p99"),
        taken_back.result("2 processes without a pause; fair: 50"),
    };
}

// On one CPU a process that has been woken waits for those before it, in an order that is the
// scheduler's, and what they do after the hand-over counts as well: the releaser's answer, for one.
figures hand_over_apart(environment& env) {
    comparison p50{"hand_over_apart", "us", {budget::kind::ratio_at_most, 0.80}};
    compare(env, p50, env.short_rounds());
    return {p50.result("p50")};
}

// Where a message takes no time, a hand-over saves a wake-up and a short script, and a longer
// script costs much of that. Between machines it saves a round trip.
figures hand_over_far(environment& env) {
    comparison p50{"hand_over_far", "us", {budget::kind::ratio_at_most, 0.55}};
    test::tcp_proxy network{env.socket()};
    network.set_mode(test::proxy_mode::delay(std::chrono::milliseconds{1}));
    compare(env, p50, env.rounds(), network.port());
    return {p50.result("1 ms to the server and 1 ms back, p50")};
}

}  // namespace holdfast::bench
