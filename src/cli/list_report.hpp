#ifndef HOLDFAST_CLI_LIST_REPORT_HPP
#define HOLDFAST_CLI_LIST_REPORT_HPP

#include "cli/found_lock.hpp"
#include "cli/holder_connection.hpp"
#include "cli/style.hpp"

#include <boost/json/object.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::cli {

/// A lock that `list` has found.
struct listed_lock {
    std::string name;
    found_lock what = {};
    /// None: the holder's client has no connection to a server that was asked.
    std::optional<holder_connection> client = {};
    /// Since the newest token was taken. None: nobody holds it, or the token does not tell.
    std::optional<std::chrono::microseconds> age = {};
    /// Of the server; for people.
    std::string server = {};
};

/// For people: a table with a line for each holder.
[[nodiscard]] std::string table_of(std::vector<listed_lock> const& rows, style const& colours);

/// For programs: as of `inspect`, and where and for how long.
[[nodiscard]] boost::json::object json_of(listed_lock const& row);

}  // namespace holdfast::cli

#endif
