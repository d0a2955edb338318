// What the metrics show of what the clients count.

#include "unit/prometheus/measured.hpp"

#include <holdfast/prometheus.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

using namespace holdfast::test;

BOOST_AUTO_TEST_SUITE(prometheus_metrics_test)

BOOST_AUTO_TEST_CASE(connections_are_counted_as_they_come_and_go) {
    measured all;
    all.client.set_commands_up(false);
    BOOST_TEST(all.value("holdfast_connections") == "0");
    all.client.set_commands_up(true);
    BOOST_TEST(all.value("holdfast_connections") == "1");
    all.client.state->abandon();
    all.client.run();
    BOOST_TEST(all.value("holdfast_connections") == "0");
}

BOOST_AUTO_TEST_CASE(several_clients_are_one_sum_and_so_they_stay) {
    measured all;
    {
        handing_client second{measured::with(all.metrics)};
        acquiring const one{second};
        second.answer(granted(5));
        BOOST_TEST(all.value("holdfast_clients") == "2");
        BOOST_TEST(all.value("holdfast_leases") == "1");
    }
    BOOST_TEST(all.value("holdfast_clients") == "1");
    BOOST_TEST(all.value("holdfast_leases") == "0");
    BOOST_TEST(all.value("holdfast_grants_total") == "1");
}

BOOST_AUTO_TEST_SUITE_END()
