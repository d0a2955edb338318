#ifndef HOLDFAST_CLI_LIST_REPORT_HPP
#define HOLDFAST_CLI_LIST_REPORT_HPP

#include "cli/lock_row.hpp"
#include "cli/style.hpp"

#include <string>
#include <vector>

namespace holdfast::cli {

/// For people: a table with a line for each holder.
[[nodiscard]] std::string table_of(std::vector<lock_row> const& rows, style const& colours);

/// One line of JSON, without its end.
[[nodiscard]] std::string json_of(lock_row const& row);

}  // namespace holdfast::cli

#endif
