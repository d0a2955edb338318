#ifndef HOLDFAST_EXHAUSTIVE_SEARCH_HPP
#define HOLDFAST_EXHAUSTIVE_SEARCH_HPP

#include "simulation/choices.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::exhaustive {

/// How far schedules may deviate from the default one.
struct bound {
    /// Taking the n-th alternative costs n delays, as in delay-bounded scheduling (M. Emmi,
    /// S. Qadeer, Z. Rakamarić, "Delay-bounded scheduling", POPL 2011).
    std::size_t delays;
    /// Things that go wrong.
    std::size_t faults;
};

/// Every sequence of decisions within a bound, one after the other, depth first: each run repeats
/// the decisions of the one before up to the last that can still be taken otherwise.
class search final : public sim::choices {
public:
    explicit search(bound limit) : limit_{limit} {}

    std::size_t choose(std::size_t n, sim::choice what) override;

    /// To be called after each run; false when all have been made.
    [[nodiscard]] bool next();
    /// Makes the same run once more.
    void again() noexcept { start(); }

    [[nodiscard]] std::uint64_t points() const noexcept { return points_; }
    [[nodiscard]] std::size_t deepest() const noexcept { return deepest_; }
    /// The same decisions led to another choice: then nothing is proven.
    [[nodiscard]] bool diverged() const noexcept { return diverged_; }
    /// What was not decided as by default.
    [[nodiscard]] std::string describe() const;

private:
    struct point {
        std::size_t taken;
        std::size_t of;
        sim::choice what;
    };

    void start() noexcept;
    void spend(point const& on) noexcept;
    [[nodiscard]] std::size_t left(sim::choice what) const noexcept;

    bound limit_;
    bound spent_{0, 0};
    std::vector<point> trail_;
    std::size_t at_ = 0;
    std::uint64_t points_ = 0;
    std::size_t deepest_ = 0;
    bool diverged_ = false;
};

}  // namespace holdfast::exhaustive

#endif
