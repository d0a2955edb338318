#include "cli/messages.hpp"

#include "protocol/target.hpp"

#include <fmt/format.h>

namespace holdfast::cli {

void say(context const& to, std::string_view text) {
    to.err << fmt::format("holdfast: {}\n", text) << std::flush;
}

std::string quoted_name(std::string_view name) {
    return "'" + detail::escaped(name, 512) + "'";
}

}  // namespace holdfast::cli
