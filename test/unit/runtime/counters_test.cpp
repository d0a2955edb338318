// The numbers behind `stats`: each is shown where it belongs.

#include "runtime/counters.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>

using holdfast::loss_reason;
using holdfast::stats;
using holdfast::detail::counter;
using holdfast::detail::counters;

BOOST_AUTO_TEST_SUITE(counters_test)

BOOST_AUTO_TEST_CASE(a_counter_counts_and_remembers_the_greatest) {
    counter one;
    one.add();
    one.add(4);
    one.subtract();
    BOOST_TEST(one.get() == 4U);
    one.raise_to(3);
    BOOST_TEST(one.get() == 4U);
    one.raise_to(9);
    BOOST_TEST(one.get() == 9U);
}

BOOST_AUTO_TEST_CASE(each_number_is_shown_where_it_belongs) {
    struct {
        counter counters::* of;
        std::uint64_t stats::* shown;
    } const table[] = {
        {&counters::attempts, &stats::attempts},
        {&counters::grants, &stats::grants},
        {&counters::refusals, &stats::refusals},
        {&counters::waits, &stats::waits},
        {&counters::re_entries, &stats::re_entries},
        {&counters::hand_overs, &stats::hand_overs},
        {&counters::renewals, &stats::renewals},
        {&counters::failed_renewals, &stats::failed_renewals},
        {&counters::releases, &stats::releases},
        {&counters::withdrawals, &stats::withdrawals},
        {&counters::reconnects, &stats::reconnects},
        {&counters::notifications, &stats::notifications},
        {&counters::refused_notifications, &stats::refused_notifications},
        {&counters::commands, &stats::commands},
        {&counters::waiters_now, &stats::waiters_now},
        {&counters::leases_now, &stats::leases_now},
        {&counters::connections_now, &stats::connections_now},
        {&counters::subscriptions_now, &stats::subscriptions_now},
    };
    counters all;
    std::uint64_t value = 100;
    for (auto const& row : table) {
        (all.*row.of).add(++value);
    }
    auto const shown = all.snapshot();
    value = 100;
    for (auto const& row : table) {
        BOOST_TEST((shown.*row.shown) == ++value);
    }
}

BOOST_AUTO_TEST_CASE(times_are_shown_as_times) {
    counters all;
    all.longest_wait_ns.add(5);
    all.total_wait_ns.add(6);
    all.total_hold_ns.add(7);
    auto const shown = all.snapshot();
    BOOST_TEST(shown.longest_wait.count() == 5);
    BOOST_TEST(shown.total_wait.count() == 6);
    BOOST_TEST(shown.total_hold.count() == 7);
}

BOOST_AUTO_TEST_CASE(losses_are_counted_by_their_reason) {
    counters all;
    int times = 0;
    for (auto const reason :
         {loss_reason::expired,
          loss_reason::taken,
          loss_reason::deleted,
          loss_reason::unreachable,
          loss_reason::max_hold,
          loss_reason::client_stopped,
          loss_reason::max_renewals,
          loss_reason::failed_over}) {
        ++times;
        for (int i = 0; i < times; ++i) {
            all.lost(reason);
        }
    }
    auto const shown = all.snapshot().losses;
    BOOST_TEST(shown.expired == 1U);
    BOOST_TEST(shown.taken == 2U);
    BOOST_TEST(shown.deleted == 3U);
    BOOST_TEST(shown.unreachable == 4U);
    BOOST_TEST(shown.max_hold == 5U);
    BOOST_TEST(shown.client_stopped == 6U);
    BOOST_TEST(shown.max_renewals == 7U);
    BOOST_TEST(shown.failed_over == 8U);
}

BOOST_AUTO_TEST_SUITE_END()
