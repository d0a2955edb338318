// What the metrics show of what an observer is told.

#include <holdfast/detail/metrics_observer.hpp>

#include "unit/lease/granted_lease.hpp"
#include "unit/prometheus/measured.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

using namespace std::chrono_literals;
using namespace holdfast::test;

BOOST_AUTO_TEST_SUITE(metrics_observer_test)

BOOST_AUTO_TEST_CASE(a_lock_that_is_acquired_and_released) {
    measured all;
    acquiring one{all.client};
    all.client.answer(granted(5));
    BOOST_TEST(all.value("holdfast_acquisitions_total{result=\"granted\"}") == "1");
    BOOST_TEST(all.value("holdfast_acquire_wait_seconds_count") == "1");
    BOOST_TEST(all.value("holdfast_hold_seconds_count") == "0");
    BOOST_TEST(all.value("holdfast_grants_total") == "1");
    BOOST_TEST(all.value("holdfast_leases") == "1");
    BOOST_TEST(all.value("holdfast_clients") == "1");
    one.got = {};
    all.client.run();
    BOOST_TEST(all.value("holdfast_hold_seconds_count") == "1");
    BOOST_TEST(all.value("holdfast_leases") == "0");
}

BOOST_AUTO_TEST_CASE(who_enters_again_has_waited_for_nobody) {
    measured all;
    auto const me = holdfast::owner::make();
    acquiring const outer{all.client, {.who = me}};
    all.client.answer(granted(5));
    acquiring const inner{all.client, {.who = me}};
    BOOST_TEST(all.value("holdfast_acquisitions_total{result=\"joined\"}") == "1");
    BOOST_TEST(all.value("holdfast_acquisitions_total{result=\"granted\"}") == "1");
    BOOST_TEST(all.value("holdfast_acquire_wait_seconds_count") == "1");
}

BOOST_AUTO_TEST_CASE(acquisitions_without_a_grant_by_how_they_ended) {
    measured all;
    acquiring const tried{all.client, once};
    all.client.answer(busy());
    BOOST_TEST(all.value("holdfast_acquisitions_total{result=\"busy\"}") == "1");
    BOOST_TEST(all.value("holdfast_acquisitions_total{result=\"limit_mismatch\"}") == "absent");
    acquiring const waiting{all.client};
    BOOST_TEST(all.value("holdfast_acquisitions_total{result=\"unreachable\"}") == "0");
    all.client.fail(holdfast::errc::auth_failed);
    BOOST_TEST(all.value("holdfast_acquisitions_total{result=\"auth_failed\"}") == "1");
    BOOST_TEST(all.value("holdfast_acquire_wait_seconds_count") == "0");
}

BOOST_AUTO_TEST_CASE(renewals_doubts_and_losses) {
    measured all;
    auto const lease = grant(all.client, {.renew_after = 0s});
    all.client.set_commands_up(false);
    BOOST_TEST(all.value("holdfast_leases_in_doubt_total") == "1");
    all.client.set_commands_up(true);
    BOOST_TEST(all.client.eventually([&] { return all.client.sent() == "renew"; }));
    all.client.answer(replied(1));
    BOOST_TEST(all.value("holdfast_renewal_delay_seconds_count") == "1");
    BOOST_TEST(all.value("holdfast_renewals_total") == "1");
    BOOST_TEST(all.value("holdfast_leases_lost_total{reason=\"deleted\"}") == "0");
    all.client.set_commands_up(false);
    all.client.set_commands_up(true);
    BOOST_TEST(all.client.eventually([&] { return all.client.sent() == "renew"; }));
    all.client.answer(replied(0, 0));
    BOOST_TEST(all.value("holdfast_leases_lost_total{reason=\"deleted\"}") == "1");
    BOOST_TEST(all.value("holdfast_leases_in_doubt_total") == "2");
}

BOOST_AUTO_TEST_CASE(a_label_for_the_locks_is_on_what_the_observer_is_told) {
    measured all{{.lock_label = [](std::string_view lock) { return "of " + std::string{lock}; }}};
    acquiring const one{all.client};
    all.client.answer(granted(5));
    BOOST_TEST(all.value("holdfast_acquisitions_total{result=\"granted\",lock=\"of a\"}") == "1");
    BOOST_TEST(all.value("holdfast_acquire_wait_seconds_count{lock=\"of a\"}") == "1");
    BOOST_TEST(all.value("holdfast_acquire_wait_seconds_count{lock=\"other\"}") == "0");
    BOOST_TEST(all.value("holdfast_grants_total") == "1");
}

BOOST_AUTO_TEST_SUITE_END()
