#include "exposed_metrics.hpp"

#include <holdfast/prometheus.hpp>

#include <fmt/format.h>
#include <prometheus/exposer.h>

#include <string>

namespace flash_sale {

namespace {

// "flash-sale:stock" counts as "flash-sale".
holdfast::prometheus_options metrics_options() {
    holdfast::prometheus_options result;
    result.lock_label = [](std::string_view lock) {
        return std::string{lock.substr(0, lock.find(':'))};
    };
    return result;
}

}  // namespace

struct exposed_metrics::parts {
    explicit parts(std::uint16_t port) : exposer{fmt::format("127.0.0.1:{}", port)} {
        exposer.RegisterCollectable(metrics);
    }

    std::shared_ptr<holdfast::prometheus_metrics> metrics =
        std::make_shared<holdfast::prometheus_metrics>(metrics_options());
    prometheus::Exposer exposer;
};

exposed_metrics::exposed_metrics(std::uint16_t port) : parts_{std::make_unique<parts>(port)} {}

exposed_metrics::~exposed_metrics() = default;

std::shared_ptr<holdfast::observer> exposed_metrics::observer() const {
    return parts_->metrics;
}

std::uint16_t exposed_metrics::port() const {
    return static_cast<std::uint16_t>(parts_->exposer.GetListeningPorts().at(0));
}

}  // namespace flash_sale
