#ifndef HOLDFAST_CLI_DURATION_HPP
#define HOLDFAST_CLI_DURATION_HPP

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::cli {

/// Reads what people write: `10s`, `500ms`, `1m30s`, `1.5h`; units are d, h, m, s and ms. A number
/// without a unit means seconds. Nothing if it is none of these, negative, or above 10 000 days.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// As people read it: `27.3s`, `4m 12s`, `3h 5m`, `2d 1h`, `850ms`.
[[nodiscard]] std::string format_duration(std::chrono::nanoseconds time);

}  // namespace holdfast::cli

#endif
