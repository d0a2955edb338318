#include "soak/written_history.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <utility>

using namespace holdfast::soak;

BOOST_AUTO_TEST_CASE(a_worker_that_is_not_served_soon_after_a_failover_breaks_progress) {
    for (auto const& [granted, fine] : {std::pair{3000, true}, std::pair{3001, false}}) {
        history all;
        all.change(500, 1000, 500);
        all.op(1, 1).whole(1100, 1200, 5);
        all.op(2, 1).whole(granted, granted + 100, 6);
        if (fine) {
            keeps_all_rules(all);
            BOOST_TEST(check(all).counts.slowest_service.count() == at_ms(2000));
        } else {
            breaks(all, rule::progress);
        }
    }
    // It does not count what it was granted before, and may have been killed.
    history all;
    all.change(500, 1000, 500);
    all.op(1, 1).whole(1100, 1200, 5);
    all.op(2, 1).whole(100, 200, 4);
    all.op(1, 2).whole(3900, 4000, 6);
    auto dead = all;
    breaks(all, rule::progress);
    dead.conductor(1500, happening::killed, 2);
    keeps_all_rules(dead);
}

BOOST_AUTO_TEST_CASE(who_waits_for_a_lock_that_has_another_server_is_served_soon) {
    constexpr std::int64_t this_one = 1;
    constexpr std::int64_t another = 2;
    struct {
        std::int64_t locks;
        std::int64_t asked;
        std::int64_t granted;
        bool fine;
    } const cases[] = {
        {this_one, 900, 3000, true},
        {this_one, 900, 3001, false},
        {this_one, 1001, 3002, true},  // it did not wait then
        {another, 900, 3001, true},
        {this_one | another, 900, 3001, false},
    };
    for (auto const& word : {"failover", "migration"}) {
        for (auto const& c : cases) {
            history all;
            all.change(500, 1000, -1, c.locks, word);
            all.op(1, 1)
                .invoke(c.asked)
                .granted(c.granted, 6, c.granted + 1000)
                .releasing(c.granted + 1)
                .released(c.granted + 2);
            if (c.fine) {
                keeps_all_rules(all);
            } else {
                breaks(all, rule::progress);
            }
        }
    }
    history counted;
    counted.change(500, 1000, -1, this_one, "migration");
    counted.op(1, 1).invoke(900).granted(1500, 6, 2500).releasing(1501).released(1502);
    auto const found = check(counted).counts;
    BOOST_TEST(found.migrations == 1);
    BOOST_TEST(found.failovers == 0);
    BOOST_TEST(found.slowest_move.count() == at_ms(500));
    BOOST_TEST(found.slowest_service.count() == 0);
}

BOOST_AUTO_TEST_CASE(who_waits_without_a_limit_waits_for_the_other_server) {
    struct {
        std::int64_t asked;
        std::int64_t failed;
        std::int64_t limit;
        bool fine;
    } const cases[] = {
        {900, 1100, unlimited, false},
        {900, 500, unlimited, false},
        {900, 499, unlimited, true},    // before the change
        {1001, 1100, unlimited, true},  // after it
        {900, 1100, 300, true},
    };
    for (auto const& c : cases) {
        history all;
        all.change(500, 1000, -1, 1, "migration");
        auto const asked = std::min(c.asked, c.failed);
        all.op(1, 1).invoke(asked, c.limit).says(c.failed, happening::failed, "unreachable");
        all.op(1, 2).whole(1200, 1300, 6);
        if (c.fine) {
            keeps_all_rules(all);
        } else {
            breaks(all, rule::progress);
        }
    }
    history counted;
    counted.change(500, 1000, -1, 1, "migration");
    counted.op(1, 1).whole(800, 900, 5);
    counted.op(2, 1).whole(1100, 1200, 6);
    counted.op(2, 2).whole(300, 400, 4);
    BOOST_TEST(check(counted).counts.waiters_at_migrations == 1);
}

BOOST_AUTO_TEST_CASE(each_client_asks_a_wrong_server_for_what_was_under_way) {
    constexpr std::int64_t this_one = 1;
    constexpr std::int64_t another = 2;
    struct {
        std::int64_t locks;
        std::int64_t count;
        char const* word;
        bool fine;
    } const cases[] = {
        {this_one, 6, "soon", true},
        {this_one, 7, "soon", false},
        {this_one, 2, "late", true},
        {this_one, 3, "late", false},
        {another, 1, "soon", false},
        {0, 6, "soon", true},
    };
    for (auto const& c : cases) {
        history all;
        all.op(1, 1).whole(100, 200, 5);
        all.op(2, 1).whole(300, 400, 6);
        all.change(450, 500, -1, c.locks, "migration");
        all.op(1, 2).whole(600, 700, 7);
        all.op(2, 2).whole(800, 900, 8);
        all.events.push_back(
            {.at = at_ms(950), .what = happening::redirected, .limit = c.count, .word = c.word}
        );
        if (c.fine) {
            keeps_all_rules(all);
        } else {
            breaks(all, rule::redirection);
        }
    }
    history none;
    none.events.push_back(
        {.at = at_ms(950), .what = happening::redirected, .limit = 1, .word = "soon"}
    );
    breaks(none, rule::redirection);
}
