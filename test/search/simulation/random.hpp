#ifndef HOLDFAST_TEST_SIMULATION_RANDOM_HPP
#define HOLDFAST_TEST_SIMULATION_RANDOM_HPP

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace holdfast::sim {

/// splitmix64 (G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators",
/// OOPSLA 2014): the same numbers on every platform, and neighbouring seeds have nothing in common.
class random_source {
public:
    explicit random_source(std::uint64_t seed) noexcept : state_{seed} {}

    std::uint64_t next() noexcept {
        state_ += 0x9e3779b97f4a7c15U;
        auto z = state_;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }

    /// 0 … n - 1. The tiny bias of the multiplication does not matter here.
    std::size_t below(std::size_t n) noexcept {
        return static_cast<std::size_t>(((next() >> 32U) * n) >> 32U);
    }

    std::int64_t between(std::int64_t low, std::int64_t high) noexcept {
        return low + static_cast<std::int64_t>(below(static_cast<std::size_t>(high - low + 1)));
    }

    /// True in `percent` of a hundred cases.
    bool chance(std::size_t percent) noexcept { return below(100) < percent; }

    double part() noexcept { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

    std::chrono::nanoseconds time(
        std::chrono::nanoseconds low,
        std::chrono::nanoseconds high
    ) noexcept {
        return low + std::chrono::nanoseconds{static_cast<std::int64_t>(
                         part() * static_cast<double>((high - low).count())
                     )};
    }

    /// As likely between 1 and 10 ms as between 10 and 100 ms.
    std::chrono::nanoseconds any_scale(
        std::chrono::nanoseconds low,
        std::chrono::nanoseconds high
    ) noexcept {
        auto const from = std::log(static_cast<double>(low.count()));
        auto const to = std::log(static_cast<double>(high.count()));
        return std::chrono::nanoseconds{
            static_cast<std::int64_t>(std::exp(from + part() * (to - from)))
        };
    }

    template <class T>
    T one_of(std::initializer_list<T> choices) noexcept {
        return *(choices.begin() + below(choices.size()));
    }

private:
    std::uint64_t state_;
};

}  // namespace holdfast::sim

#endif
