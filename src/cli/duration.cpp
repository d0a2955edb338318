#include "cli/duration.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace holdfast::cli {

using std::chrono::milliseconds;

namespace {

constexpr std::array<std::pair<std::string_view, double>, 5> units{{
    {"ms", 1.0},
    {"s", 1e3},
    {"m", 60e3},
    {"h", 3600e3},
    {"d", 86400e3},
}};
constexpr double longest = 10'000.0 * 86400e3;

constexpr std::string_view digits = "0123456789";

// The milliseconds of a unit; nothing if there is no such unit.
std::optional<double> milliseconds_of(std::string_view unit) {
    for (auto const& [name, length] : units) {
        if (name == unit) {
            return length;
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<milliseconds> parse_duration(std::string_view text) {
    double sum = 0.0;
    double above = longest;  // units come in order, the longest first, each once
    bool const has_unit = text.find_first_not_of("0123456789.") != text.npos;
    if (text.empty()) {
        return std::nullopt;
    }
    while (!text.empty()) {
        auto const number = text.substr(0, text.find_first_not_of("0123456789."));
        text.remove_prefix(number.size());
        auto const unit = has_unit ? text.substr(0, text.find_first_of(digits)) : "s";
        text.remove_prefix(has_unit ? unit.size() : 0);
        double value = 0.0;
        auto const read = std::from_chars(
            number.data(),
            number.data() + number.size(),
            value,
            std::chars_format::fixed
        );
        auto const length = milliseconds_of(unit);
        bool const whole = read.ec == std::errc{} && read.ptr == number.data() + number.size();
        if (!whole || !length || *length >= above) {
            return std::nullopt;
        }
        above = *length;
        sum += value * *length;
    }
    if (sum > longest) {
        return std::nullopt;
    }
    return milliseconds{std::llround(sum)};
}

std::string format_duration(std::chrono::nanoseconds time) {
    using namespace std::chrono;
    if (time < 1s) {
        return time < 1ms ? fmt::format("{}us", duration_cast<microseconds>(time).count())
                          : fmt::format("{}ms", duration_cast<milliseconds>(time).count());
    }
    if (time < 1min) {
        return fmt::format("{:.1f}s", std::floor(duration<double, std::deci>{time}.count()) / 10.0);
    }
    auto const two = [](auto whole, char const* unit, auto rest, char const* rest_unit) {
        return fmt::format("{}{} {}{}", whole.count(), unit, rest.count(), rest_unit);
    };
    if (time < 1h) {
        auto const whole = floor<minutes>(time);
        return two(whole, "m", floor<seconds>(time - whole), "s");
    }
    if (time < days{1}) {
        auto const whole = floor<hours>(time);
        return two(whole, "h", floor<minutes>(time - whole), "m");
    }
    auto const whole = floor<days>(time);
    return two(whole, "d", floor<hours>(time - whole), "h");
}

}  // namespace holdfast::cli
