// What observers of an election are told. Every rule has a history that keeps it, and one that
// breaks it.
#include "soak/check_leaders.hpp"

#include "soak/written_history.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <tuple>

using namespace holdfast::soak;

namespace {

// In worker 9.
void observes(history& all, std::int64_t at) {
    all.events.push_back(
        {.at = at_ms(at), .what = happening::observes, .process = 9, .op = 1, .lock = 0}
    );
}
void sees(history& all, std::int64_t at, std::int64_t term, std::int64_t leader) {
    all.events.push_back(
        {.at = at_ms(at),
         .what = happening::observed,
         .process = 9,
         .op = 1,
         .lock = 0,
         .token = term,
         .owner = leader}
    );
}
void leads(
    history& all,
    std::int64_t process,
    std::int64_t from,
    std::int64_t to,
    std::int64_t term
) {
    all.op(process, 1)
        .invoke(from - 1)
        .granted(from, term, from + 1000)
        .moved(from + 300, to + 1000)
        .releasing(to)
        .released(to + 1);
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_observer_sees_one_leader_after_the_other) {
    history all;
    observes(all, 1);
    leads(all, 1, 10, 500, 5);
    sees(all, 20, 5, 1);
    leads(all, 2, 510, 900, 6);
    sees(all, 520, 6, 2);
    auto const found = check(all);
    BOOST_TEST(broken_rules(found).empty());
    BOOST_TEST(found.counts.leaders_seen == 2);
}

BOOST_AUTO_TEST_CASE(an_observer_that_sees_an_older_term_breaks_observation) {
    history all;
    observes(all, 1);
    leads(all, 1, 10, 500, 5);
    leads(all, 2, 510, 900, 6);
    sees(all, 520, 6, 2);
    sees(all, 530, 5, 1);
    breaks(all, rule::observation);
}

BOOST_AUTO_TEST_CASE(an_observer_that_takes_another_for_the_leader_breaks_observation) {
    history all;
    observes(all, 1);
    leads(all, 1, 10, 500, 5);
    sees(all, 20, 5, 2);
    breaks(all, rule::observation);
}

BOOST_AUTO_TEST_CASE(a_leader_that_was_killed_before_it_knew_may_be_seen) {
    history all;
    observes(all, 1);
    all.op(1, 1).invoke(1);
    sees(all, 20, 5, 1);
    all.conductor(30, happening::killed, 1);
    keeps_all_rules(all);
}

BOOST_AUTO_TEST_CASE(in_calm_times_each_leader_is_seen_that_leads_for_long) {
    for (auto const& [calm, to, fine] :
         {std::tuple{1, 1000, true}, std::tuple{1, 1200, false}, std::tuple{300, 1200, true}}) {
        history all;
        observes(all, 1);
        all.conductor(calm, happening::calm);
        leads(all, 1, 10, to, 5);
        if (fine) {
            keeps_all_rules(all);
        } else {
            breaks(all, rule::observation);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_leader_that_was_seen_in_time_need_not_be_seen_again) {
    history all;
    observes(all, 1);
    all.conductor(1, happening::calm);
    leads(all, 1, 10, 5000, 5);
    sees(all, 900, 5, 1);
    keeps_all_rules(all);
}
