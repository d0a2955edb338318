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

BOOST_AUTO_TEST_SUITE_END()
