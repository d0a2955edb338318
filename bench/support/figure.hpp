#ifndef HOLDFAST_BENCH_SUPPORT_FIGURE_HPP
#define HOLDFAST_BENCH_SUPPORT_FIGURE_HPP

#include <optional>
#include <string>
#include <vector>

namespace holdfast::bench {

/// What an answer may be at most, or has to be at least. Ratios are ours to the floor's.
struct budget {
    enum class kind {
        none,
        ratio_at_most,
        ratio_at_least,
        ours_at_most,
        ours_at_least,
        above_floor_at_most,
    };
    kind what = kind::none;
    double limit = 0.0;
};

/// One answer, ready to be shown.
struct figure {
    std::string question;
    std::string unit;
    double ours = 0.0;
    double floor = 0.0;
    double ratio = 0.0;
    budget allowed{};
    std::optional<bool> met{};  // nothing: only measured
    std::string note{};
};

/// Gathers the rounds of one question. A machine that is slow for a while slows both sides of a
/// round, so the ratio is taken round by round.
class comparison {
public:
    comparison(std::string question, std::string unit, budget allowed);

    void add(double ours, double floor);

    /// The medians over all rounds.
    [[nodiscard]] figure result(std::string note = {}) const;

private:
    std::string question_;
    std::string unit_;
    budget allowed_;
    std::vector<double> ours_;
    std::vector<double> floor_;
    std::vector<double> ratios_;
};

/// question | ours | floor | median ratio | budget | met, missed or measured.
[[nodiscard]] std::string to_line(figure const& f);

[[nodiscard]] std::string to_json(std::vector<figure> const& figures);

}  // namespace holdfast::bench

#endif
