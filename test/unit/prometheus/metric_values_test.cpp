#include "prometheus/metric_values.hpp"

#include <boost/test/unit_test.hpp>

#include <limits>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

using holdfast::prometheus_options;
using holdfast::detail::metric_values;
using prometheus::MetricType;

namespace {

std::string complaint_about(prometheus_options options) {
    try {
        metric_values const made{std::move(options)};
    } catch (std::invalid_argument const& e) {
        return e.what();
    }
    return "";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(metric_values_test)

// https://prometheus.io/docs/practices/naming: the unit at the end, and `_total` after it.
BOOST_AUTO_TEST_CASE(names_tell_the_unit_and_what_only_grows) {
    metric_values of{{}};
    std::regex const allowed{"holdfast_[a-z]+(_[a-z]+)*"};
    std::set<std::string> names;
    for (auto const& family : of.families()) {
        BOOST_TEST_CONTEXT(family.name) {
            BOOST_TEST(names.insert(family.name).second);
            BOOST_TEST(std::regex_match(family.name, allowed));
            bool const is_counter = family.type == MetricType::Counter;
            BOOST_TEST(family.name.ends_with("_total") == is_counter);
            bool const is_histogram = family.type == MetricType::Histogram;
            BOOST_TEST(family.name.ends_with("_seconds") == is_histogram);
            BOOST_TEST(family.help.ends_with('.'));
            BOOST_TEST(!family.metric.empty());
        }
    }
    BOOST_TEST(names.size() >= 25U);
}

// A scrape with the same series twice is refused as a whole.
BOOST_AUTO_TEST_CASE(the_series_of_a_family_differ_in_their_labels_values) {
    for (bool const labelled : {false, true}) {
        prometheus_options options;
        if (labelled) {
            options.lock_label = [](std::string_view lock) { return std::string{lock}; };
        }
        metric_values of{options};
        ++of.locks.of("a").doubts;
        for (auto const& family : of.families()) {
            std::set<std::vector<prometheus::ClientMetric::Label>> seen;
            for (auto const& one : family.metric) {
                BOOST_TEST(seen.insert(one.label).second, family.name << " has a series twice");
                BOOST_TEST(one.label.size() == family.metric.front().label.size(), family.name);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(the_programs_labels_are_on_every_series) {
    metric_values of{{.labels = {{"service", "shop"}}}};
    std::size_t series = 0;
    for (auto const& family : of.families()) {
        for (auto const& one : family.metric) {
            BOOST_TEST((one.label.back() == prometheus::ClientMetric::Label{"service", "shop"}));
            ++series;
        }
    }
    BOOST_TEST(series > 40U);
}

BOOST_AUTO_TEST_CASE(options_that_prometheus_would_refuse_are_named) {
    for (char const* const name : {"", "9", "a-b", "__a", "lock", "reason", "le"}) {
        auto const said = complaint_about({.labels = {{name, "x"}}});
        BOOST_TEST((said.find("labels") != said.npos), name << ": " << said);
    }
    BOOST_TEST(complaint_about({.labels = {{"_a9", "x"}}}).empty());
    auto const infinite = std::numeric_limits<double>::infinity();
    for (auto const& bounds :
         std::vector<std::vector<double>>{{}, {0.0, 1.0}, {2, 1}, {1, 1}, {1, infinite}}) {
        auto const waits = complaint_about({.wait_buckets = bounds});
        BOOST_TEST((waits.find("wait_buckets") != waits.npos), waits);
        auto const holds = complaint_about({.hold_buckets = bounds});
        BOOST_TEST((holds.find("hold_buckets") != holds.npos), holds);
        auto const renewals = complaint_about({.renewal_buckets = bounds});
        BOOST_TEST((renewals.find("renewal_buckets") != renewals.npos), renewals);
    }
}

BOOST_AUTO_TEST_SUITE_END()
