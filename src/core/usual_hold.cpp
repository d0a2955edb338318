#include "core/usual_hold.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace holdfast::detail {

namespace {

constexpr float weight_of_old = 0.8F;
// More do not count: the first of them weighs nothing.
constexpr std::uint32_t most_counted = 1'000;

float old_part(std::uint32_t count) {
    return std::pow(weight_of_old, static_cast<float>(count));
}

float micros_of(nanos length) {
    auto const whole = std::clamp<nanos>(length, std::chrono::microseconds{1}, max_lease);
    return static_cast<float>(whole.count()) / 1'000.0F;
}

nanos nanos_of(float micros) {
    return std::chrono::microseconds{static_cast<nanos::rep>(micros)};
}

}  // namespace

void usual_hold::on_told(nanos usual) noexcept {
    known_ = usual > nanos{0} ? micros_of(usual) : 0.0F;
}

void usual_hold::on_held(nanos length) noexcept {
    auto const before = old_part(count_);
    count_ = std::min(count_ + 1, most_counted);
    mean_ = (mean_ * (1 - before) * weight_of_old + micros_of(length) * (1 - weight_of_old)) /
            (1 - before * weight_of_old);
}

usual_hold::report usual_hold::take() noexcept {
    if (count_ > 0) {
        known_ = micros_of(expected());
    }
    return {std::exchange(count_, 0), nanos_of(std::exchange(mean_, 0.0F))};
}

nanos usual_hold::expected() const noexcept {
    if (count_ == 0) {
        return nanos_of(known_);
    }
    if (known_ == 0) {
        return nanos_of(mean_);
    }
    auto const old = old_part(count_);
    return nanos_of(known_ * old + mean_ * (1 - old));
}

}  // namespace holdfast::detail
