#include "protocol/target.hpp"

#include <fmt/format.h>

namespace holdfast::detail {

std::string escaped(std::string_view name, std::size_t longest) {
    std::string text;
    for (char const c : name.substr(0, longest)) {
        auto const byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte > 0x7e || c == '\\') {
            text += fmt::format("\\x{:02x}", byte);
        } else {
            text += c;
        }
    }
    if (name.size() > longest) {
        text += "…";
    }
    return text;
}

}  // namespace holdfast::detail
