#include "cli/json.hpp"

#include "protocol/target.hpp"

// The one place where Boost.JSON is compiled.
#include <boost/json/src.hpp>

namespace holdfast::cli {

void print_json(std::ostream& out, boost::json::value const& value) {
    auto line = boost::json::serialize(value);
    line += '\n';
    out << line << std::flush;
}

std::string json_text(std::string_view bytes) {
    // Boost.JSON writes what it is given, and reads UTF-8 only.
    boost::system::error_code ec;
    boost::json::parse(boost::json::serialize(boost::json::value(bytes)), ec);
    return ec ? detail::escaped(bytes, bytes.size()) : std::string{bytes};
}

}  // namespace holdfast::cli
