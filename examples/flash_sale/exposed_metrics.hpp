#ifndef FLASH_SALE_EXPOSED_METRICS_HPP
#define FLASH_SALE_EXPOSED_METRICS_HPP

#include <holdfast/observer.hpp>

#include <cstdint>
#include <memory>

namespace flash_sale {

/// What the locks tell, at `http://127.0.0.1:PORT/metrics`.
class exposed_metrics {
public:
    /// Port 0 stands for any. Throws if the port is not free, or if holdfast was built without
    /// `HOLDFAST_BUILD_PROMETHEUS`.
    explicit exposed_metrics(std::uint16_t port);
    ~exposed_metrics();

    [[nodiscard]] std::shared_ptr<holdfast::observer> observer() const;
    [[nodiscard]] std::uint16_t port() const;

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace flash_sale

#endif
