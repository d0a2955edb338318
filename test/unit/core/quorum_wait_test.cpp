// When a waiter for a quorum tries again: nothing that was heard is lost, and nobody polls.

#include "core/quorum_wait.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::detail::quorum_tally;
using holdfast::detail::quorum_wait;
using holdfast::detail::time_point;

namespace {

time_point const start{1h};
constexpr auto fallback = 5s;

struct waiting : quorum_wait {
    waiting() : quorum_wait{5, fallback} {
        BOOST_TEST((attempt_at() <= start));
        on_round(start);
    }
    /// A round that took 100 µs.
    void lose(quorum_tally const& of, double part = 0, bool hears = true) {
        on_lost(of, hears, part, now);
    }
    bool tries_next() const { return attempt_at() == next; }

    time_point const now = start + 100us;
    /// Rounds begin at least 1 ms apart.
    time_point const next = start + 1ms;
};

quorum_tally held_for(std::chrono::milliseconds remaining) {
    quorum_tally all{5};
    for (std::size_t i = 0; i < 5; ++i) {
        all.on_refused(i, remaining + i * 1s);
    }
    return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quorum_wait_test)

BOOST_AUTO_TEST_CASE(it_sleeps_until_a_majority_has_ended) {
    waiting one;
    BOOST_TEST((one.attempt_at() == time_point::max()));
    one.lose(held_for(10s));
    BOOST_TEST((one.attempt_at() == one.now + 12s + 1ms));
    waiting late;
    late.lose(held_for(10s), 0.5);
    BOOST_TEST((late.attempt_at() == late.now + 12s + 1ms + quorum_wait::longest_jitter / 2));
}

// One was restarted a moment ago, and does not vote yet.
BOOST_AUTO_TEST_CASE(it_tries_when_a_node_that_was_not_asked_makes_up_a_majority) {
    waiting one;
    one.on_not_asked(4, start + 3s);
    quorum_tally all{5};
    for (std::size_t i = 0; i < 4; ++i) {
        all.on_refused(i, 30s);
    }
    all.on_failed(4, errc::quorum_not_reached);
    one.lose(all);
    BOOST_TEST((one.attempt_at() == one.now + 30s + 1ms));
    one.on_news(0, 0, start + 1s);
    BOOST_TEST((one.attempt_at() == one.now + 30s + 1ms));
    one.on_news(1, 0, start + 1s);
    BOOST_TEST((one.attempt_at() == start + 3s + 1ms));
}

BOOST_AUTO_TEST_CASE(it_tries_when_a_majority_was_freed) {
    waiting one;
    one.lose(held_for(10s));
    one.on_news(0, 0, one.now);
    one.on_news(0, 0, one.now);
    one.on_news(1, 0, one.now);
    BOOST_TEST(!one.tries_next());
    one.on_news(4, 0, one.now);
    BOOST_TEST(one.tries_next());
}

BOOST_AUTO_TEST_CASE(a_newcomer_has_the_nodes_asked_again) {
    waiting brief;
    brief.lose(held_for(10s));
    brief.on_newcomer(true, brief.now);
    BOOST_TEST(brief.tries_next());

    waiting patient;
    patient.lose(held_for(10s));
    patient.on_newcomer(false, patient.now);
    BOOST_TEST((patient.attempt_at() == start + 250ms));

    waiting during;
    during.on_newcomer(true, start);
    BOOST_TEST((during.attempt_at() == time_point::max()));
    during.lose(held_for(10s));
    BOOST_TEST(during.tries_next());
}

BOOST_AUTO_TEST_CASE(it_draws_a_pause_of_two_round_trips_before_it_tries) {
    waiting one;
    one.lose(held_for(10s));
    for (std::size_t i = 0; i < 3; ++i) {
        one.on_news(i, 0.5, one.now);
    }
    BOOST_TEST((one.attempt_at() == one.next + 100us));
}

BOOST_AUTO_TEST_CASE(what_is_heard_during_a_round_counts_after_it) {
    waiting one;
    one.on_news(0, 0, start);
    one.on_news(1, 0, start);
    one.on_news(2, 0, start);
    BOOST_TEST((one.attempt_at() == time_point::max()));
    one.lose(held_for(10s));
    BOOST_TEST(one.tries_next());
    // And not after the next one.
    one.on_round(start);
    one.lose(held_for(10s));
    BOOST_TEST(!one.tries_next());
}

// A server counts in whole milliseconds: in the last one of a lease it says zero.
BOOST_AUTO_TEST_CASE(rounds_begin_at_least_a_millisecond_apart) {
    waiting one;
    quorum_tally all{5};
    for (std::size_t i = 0; i < 5; ++i) {
        all.on_refused(i, 0ms);
    }
    one.on_lost(all, true, 0, start);
    BOOST_TEST((one.attempt_at() == start + 1ms));
    for (std::size_t i = 0; i < 5; ++i) {
        one.on_news(i, 0, start);
    }
    BOOST_TEST((one.attempt_at() == start + 1ms));
    one.on_round(start + 1ms);
    one.on_lost(all, true, 0, start + 5ms);
    BOOST_TEST((one.attempt_at() == start + 5ms));

    waiting split;
    quorum_tally none{5};
    for (std::size_t i = 0; i < 5; ++i) {
        none.on_failed(i, errc::unreachable);
    }
    split.on_lost(none, true, 0, start);
    BOOST_TEST((split.attempt_at() == start + 1ms));
}

BOOST_AUTO_TEST_CASE(nodes_that_it_could_have_had_count_as_free) {
    waiting one;
    quorum_tally all{5};
    all.on_granted(0, {7});
    all.on_granted(1, {7});
    all.on_refused(2, 20s);
    all.on_refused(3, 10s);
    all.on_refused(4, std::nullopt);
    one.lose(all);
    BOOST_TEST((one.attempt_at() == one.now + 10s + 1ms));
    one.on_news(4, 0, one.now);
    BOOST_TEST(one.tries_next());
}

BOOST_AUTO_TEST_CASE(a_split_vote_is_tried_again_after_pauses_that_grow) {
    waiting one;
    quorum_tally split{5};
    split.on_granted(0, {7});
    split.on_granted(1, {7});
    split.on_refused(2, 20s);
    split.on_refused(3, 20s);
    split.on_failed(4, errc::unreachable);
    for (auto const pause : {1000us, 2000us, 4000us, 8000us}) {
        one.lose(split, 0.5);
        BOOST_TEST((one.attempt_at() == one.next + pause / 2));
        one.on_round(start);
    }
    // When another is known to have it, the pauses begin anew.
    one.lose(held_for(10s));
    one.on_round(start);
    one.lose(split, 0.5);
    BOOST_TEST((one.attempt_at() == one.next + 500us));
}

BOOST_AUTO_TEST_CASE(nodes_that_are_down_are_tried_again_after_pauses) {
    waiting one;
    quorum_tally none{5};
    for (std::size_t i = 0; i < 5; ++i) {
        none.on_failed(i, errc::unreachable);
    }
    for (int i = 0; i < 30; ++i) {
        one.lose(none, 0.99);
        BOOST_TEST((one.attempt_at() < one.next + quorum_wait::longest_pause));
        one.on_round(start);
    }
}

BOOST_AUTO_TEST_CASE(nodes_that_refuse_again_and_again_are_tried_about_once_a_second) {
    waiting one;
    quorum_tally none{5};
    none.on_granted(0, {7});
    for (std::size_t i = 1; i < 5; ++i) {
        none.on_failed(i, errc::server_refused);
    }
    for (int i = 0; i < 20; ++i) {
        one.lose(none, 0.5);
        one.on_round(start);
    }
    one.lose(none, 0.5);
    BOOST_TEST((one.attempt_at() >= one.now + 1s));
    BOOST_TEST((one.attempt_at() <= one.now + 1s + 1ms));
}

BOOST_AUTO_TEST_CASE(a_waiter_that_may_not_hear_of_a_release_looks_at_intervals) {
    waiting deaf;
    deaf.lose(held_for(10s), 0, false);
    BOOST_TEST((deaf.attempt_at() == deaf.now + fallback));
    waiting endless;
    quorum_tally all{5};
    for (std::size_t i = 0; i < 5; ++i) {
        all.on_refused(i, std::nullopt);
    }
    endless.lose(all);
    BOOST_TEST((endless.attempt_at() == endless.now + fallback));
}

BOOST_AUTO_TEST_SUITE_END()
