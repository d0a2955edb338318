#ifndef HOLDFAST_CLI_LIST_REPORT_HPP
#define HOLDFAST_CLI_LIST_REPORT_HPP

#include "cli/lock_row.hpp"
#include "cli/style.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::cli {

/// A time as people say it: `850 ms`, `12 s`, `3 min`, `5 h`, `2 d`.
[[nodiscard]] std::string short_time(std::chrono::nanoseconds time);

/// For people: a table with a line for each holder.
[[nodiscard]] std::string table_of(std::vector<lock_row> const& rows, style const& colours);

/// One line of JSON, without its end.
[[nodiscard]] std::string json_of(lock_row const& row);

}  // namespace holdfast::cli

#endif
