#ifndef HOLDFAST_TEST_UNIT_PROMETHEUS_MEASURED_HPP
#define HOLDFAST_TEST_UNIT_PROMETHEUS_MEASURED_HPP

#include "unit/acquire/handing_client.hpp"

#include <holdfast/prometheus.hpp>

#include <prometheus/text_serializer.h>

#include <memory>
#include <string>
#include <utility>

namespace holdfast::test {

/// A client, and metrics that it tells what happens.
struct measured {
    explicit measured(prometheus_options options = {})
        : metrics{std::make_shared<prometheus_metrics>(std::move(options))},
          client{with(metrics)} {}

    static holdfast::config with(std::shared_ptr<prometheus_metrics> const& metrics) {
        holdfast::config made;
        made.observer = metrics;
        return made;
    }
    /// The value of a series, as it is scraped.
    std::string value(std::string const& series) const {
        auto const text = '\n' + prometheus::TextSerializer{}.Serialize(metrics->Collect());
        auto const at = text.find('\n' + series + ' ');
        if (at == text.npos) {
            return "absent";
        }
        auto const from = at + series.size() + 2;
        return text.substr(from, text.find('\n', from) - from);
    }

    std::shared_ptr<prometheus_metrics> metrics;
    handing_client client;
};

}  // namespace holdfast::test

#endif
