#ifndef HOLDFAST_CLI_JSON_HPP
#define HOLDFAST_CLI_JSON_HPP

#include <boost/json/value.hpp>

#include <ostream>
#include <string>
#include <string_view>

namespace holdfast::cli {

/// One value on a line of its own, written at once: a reader of a pipe gets whole lines.
void print_json(std::ostream& out, boost::json::value const& value);

/// A name as JSON can carry it. If it is not UTF-8, it is escaped as in logs: `\xff`.
[[nodiscard]] std::string json_text(std::string_view bytes);

}  // namespace holdfast::cli

#endif
