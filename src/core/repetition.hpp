#ifndef HOLDFAST_CORE_REPETITION_HPP
#define HOLDFAST_CORE_REPETITION_HPP

#include "core/lease_terms.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace holdfast::detail {

/// Keeps a message that comes again and again from filling a log: it is worth a line when it is
/// new, and then after pauses that grow.
class repetition {
public:
    bool worth_a_line(std::string_view message, time_point now) {
        if (message != last_) {
            last_ = message;
            pause_ = first_pause;
        } else if (now < next_) {
            return false;
        } else {
            pause_ = std::min(2 * pause_, longest_pause);
        }
        next_ = now + pause_;
        return true;
    }
    /// What it was about is over.
    void reset() noexcept { last_.clear(); }

private:
    static constexpr nanos first_pause = millis{10'000};
    static constexpr nanos longest_pause = millis{600'000};

    std::string last_;
    nanos pause_{0};
    time_point next_{};
};

}  // namespace holdfast::detail

#endif
