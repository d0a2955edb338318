#include "exhaustive/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace holdfast::exhaustive {

using sim::choice;

std::size_t search::left(choice what) const noexcept {
    switch (what) {
        case choice::start: return std::numeric_limits<std::size_t>::max();
        case choice::fault: return limit_.faults - spent_.faults;
        default: return limit_.delays - spent_.delays;
    }
}

// A fault is one, whichever it is.
void search::spend(point const& on) noexcept {
    if (on.what == choice::fault) {
        spent_.faults += on.taken > 0 ? 1 : 0;
    } else if (on.what != choice::start) {
        spent_.delays += on.taken;
    }
}

std::size_t search::choose(std::size_t n, choice what) {
    // What cannot be decided otherwise is no decision.
    if (left(what) == 0) {
        return 0;
    }
    if (at_ == trail_.size()) {
        ++points_;
        trail_.push_back({0, n, what});
    }
    auto const& now = trail_[at_++];
    if (now.of != n || now.what != what) {
        diverged_ = true;
        return 0;
    }
    spend(now);
    return now.taken;
}

void search::start() noexcept {
    at_ = 0;
    spent_ = {0, 0};
}

bool search::next() {
    deepest_ = std::max(deepest_, trail_.size());
    while (!trail_.empty()) {
        auto const last = trail_.back();
        trail_.pop_back();
        start();
        for (auto const& one : trail_) {
            spend(one);
        }
        auto const more = last.taken + 1;
        if (more < last.of && (last.what == choice::fault || more <= left(last.what))) {
            trail_.push_back({more, last.of, last.what});
            start();
            return true;
        }
    }
    return false;
}

std::string search::describe() const {
    constexpr std::array<std::string_view, 6>
        names{"lane", "event", "delay", "late", "start", "fault"};
    std::string text;
    for (std::size_t i = 0; i < trail_.size(); ++i) {
        if (auto const& one = trail_[i]; one.taken > 0) {
            auto const name = names.at(static_cast<std::size_t>(one.what));
            text += fmt::format("{}{} {} at {}", text.empty() ? "" : ", ", name, one.taken, i);
        }
    }
    return text.empty() ? "the default" : text;
}

}  // namespace holdfast::exhaustive
