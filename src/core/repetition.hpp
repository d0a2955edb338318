#ifndef HOLDFAST_CORE_REPETITION_HPP
#define HOLDFAST_CORE_REPETITION_HPP

#include "core/lease_terms.hpp"

#include <holdfast/logger.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::detail {

/// Limits the lines of a log that repeat. The first line of a cause is written at once, for a few
/// locks. Later ones are left out, except for one after each pause; the pauses grow. It says how
/// often the cause occurred meanwhile, and for how many locks.
class repetition {
public:
    using line = std::pair<log_level, std::string>;

    /// `plural` is the word for what plays the part of the locks. It must outlive this.
    explicit repetition(std::string_view plural = "locks") noexcept : plural_{plural} {}

    /// Returns the line to write; nothing if it is left out. `name` is that of the cause, the same
    /// for all locks. A cause that concerns no lock has an empty `lock`.
    [[nodiscard]] std::optional<std::string> admit(
        log_level level,
        std::string_view name,
        std::string_view lock,
        std::string_view text,
        time_point now
    );
    /// The causes are over: their next lines are new, unless one was written within the first
    /// pause. What was left out is dropped.
    void reset(time_point now) noexcept;
    /// When a line about what was left out is due. Nothing if nothing was left out.
    [[nodiscard]] std::optional<time_point> due() const noexcept;
    /// Returns the lines that are due by then.
    [[nodiscard]] std::vector<line> take_due(time_point now, time_point by);

private:
    struct cause {
        log_level level;
        std::string name;
        nanos pause;
        time_point since;
        time_point until;
        /// Lines written in this pause.
        unsigned lines = 0;
        /// The locks that they name.
        std::set<std::string, std::less<>> named = {};
        std::uint64_t left_out = 0;
        /// The locks of what was left out; not more than a bound.
        std::set<std::string, std::less<>> unnamed = {};
        std::string last_text = {};
    };

    [[nodiscard]] cause* find(log_level level, std::string_view name) noexcept;
    void forget_old(time_point now);
    static void go_on(cause& of, time_point now);
    /// What is appended to a line: how often the cause occurred since the last one.
    [[nodiscard]] std::string summary(std::uint64_t times, std::size_t locks, nanos in) const;

    std::string_view plural_;
    std::vector<cause> causes_;
};

}  // namespace holdfast::detail

#endif
