#include "core/repetition.hpp"

#include <algorithm>
#include <chrono>

namespace holdfast::detail {

namespace {

constexpr nanos first_pause = millis{10'000};
constexpr nanos longest_pause = millis{600'000};
constexpr unsigned most_lines = 3;
constexpr std::size_t most_causes = 64;
constexpr std::size_t most_locks = 1'000;

}  // namespace

std::string repetition::summary(std::uint64_t times, std::size_t locks, nanos in) const {
    if (times == 0) {
        return {};
    }
    auto const seconds = std::chrono::round<std::chrono::seconds>(in).count();
    auto text =
        " (and " + std::to_string(times) + " more times in " + std::to_string(seconds) + " s";
    if (locks > 1) {
        text += locks < most_locks ? ", for " : ", for at least ";
        text += std::to_string(locks) + ' ' + std::string{plural_};
    }
    return text + ")";
}

repetition::cause* repetition::find(log_level level, std::string_view name) noexcept {
    auto const at = std::find_if(causes_.begin(), causes_.end(), [&](cause const& one) {
        return one.level == level && one.name == name;
    });
    return at == causes_.end() ? nullptr : &*at;
}

// A cause that has not occurred for a whole pause after its last one is new when it comes back.
void repetition::forget_old(time_point now) {
    std::erase_if(causes_, [now](cause const& one) {
        return one.left_out == 0 && one.until + one.pause <= now;
    });
    if (causes_.size() >= most_causes) {
        causes_.erase(std::min_element(
            causes_.begin(),
            causes_.end(),
            [](cause const& a, cause const& b) { return a.until < b.until; }
        ));
    }
}

// Only the first pause of a cause has several lines.
void repetition::go_on(cause& of, time_point now) {
    of.pause = std::min(2 * of.pause, longest_pause);
    of.since = now;
    of.until = now + of.pause;
    of.lines = most_lines;
    of.named.clear();
    of.left_out = 0;
    of.unnamed.clear();
    of.last_text.clear();
}

std::optional<std::string> repetition::admit(
    log_level level,
    std::string_view name,
    std::string_view lock,
    std::string_view text,
    time_point now
) {
    auto* const known = find(level, name);
    if (!known || (known->left_out == 0 && known->until + known->pause <= now)) {
        forget_old(now);
        auto& made = causes_.emplace_back(cause{
            .level = level,
            .name = std::string{name},
            .pause = first_pause,
            .since = now,
            .until = now + first_pause,
            .lines = 1,
        });
        made.named.emplace(lock);
        return std::string{text};
    }
    auto& of = *known;
    if (of.until <= now) {
        of.unnamed.emplace(lock);
        auto told = std::string{text} + summary(of.left_out, of.unnamed.size(), now - of.since);
        go_on(of, now);
        return told;
    }
    if (of.lines < most_lines && !of.named.contains(lock)) {
        ++of.lines;
        of.named.emplace(lock);
        return std::string{text};
    }
    ++of.left_out;
    if (of.unnamed.size() < most_locks) {
        of.unnamed.emplace(lock);
    }
    of.last_text = text;
    return std::nullopt;
}

// What comes and goes all the time is limited, too: a cause whose last line is not old waits until
// it is.
void repetition::reset(time_point now) noexcept {
    for (auto& one : causes_) {
        one.pause = first_pause;
        one.until = std::min(one.until, std::max(now, one.since + first_pause));
        one.named.clear();
        one.left_out = 0;
        one.unnamed.clear();
    }
}

std::optional<time_point> repetition::due() const noexcept {
    std::optional<time_point> next;
    for (auto const& one : causes_) {
        if (one.left_out != 0) {
            next = std::min(next.value_or(one.until), one.until);
        }
    }
    return next;
}

std::vector<repetition::line> repetition::take_due(time_point now, time_point by) {
    std::vector<line> lines;
    for (auto& one : causes_) {
        if (one.left_out == 0 || one.until > by) {
            continue;
        }
        auto const rest = summary(one.left_out - 1, one.unnamed.size(), now - one.since);
        lines.emplace_back(one.level, one.last_text + rest);
        go_on(one, now);
    }
    return lines;
}

}  // namespace holdfast::detail
