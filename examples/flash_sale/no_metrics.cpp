// In place of exposed_metrics.cpp, where holdfast::prometheus is not built.
#include "exposed_metrics.hpp"

#include <stdexcept>

namespace flash_sale {

struct exposed_metrics::parts {};

exposed_metrics::exposed_metrics(std::uint16_t) {
    throw std::runtime_error{"no metrics: this was built without HOLDFAST_BUILD_PROMETHEUS"};
}

exposed_metrics::~exposed_metrics() = default;

std::shared_ptr<holdfast::observer> exposed_metrics::observer() const {
    return nullptr;
}

std::uint16_t exposed_metrics::port() const {
    return 0;
}

}  // namespace flash_sale
