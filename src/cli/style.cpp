#include "cli/style.hpp"

#include <unistd.h>

#include <cstdlib>

namespace holdfast::cli {

namespace {

bool is_set(char const* variable) {
    auto const* const value = std::getenv(variable);
    return value != nullptr && *value != '\0';
}

bool has_colours(int descriptor) {
    auto const* const terminal = std::getenv("TERM");
    bool const dumb = terminal == nullptr || std::string_view{terminal} == "dumb";
    return ::isatty(descriptor) == 1 && !dumb && !is_set("NO_COLOR");
}

}  // namespace

style style::of(int descriptor, colour_mode mode) {
    return style{
        mode == colour_mode::always || (mode == colour_mode::automatic && has_colours(descriptor))
    };
}

std::string style::painted(std::string_view code, std::string_view text) const {
    std::string result;
    if (!coloured_) {
        return result.append(text);
    }
    return result.append("\x1b[").append(code).append("m").append(text).append("\x1b[0m");
}

}  // namespace holdfast::cli
