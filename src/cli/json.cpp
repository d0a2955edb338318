#include "cli/json.hpp"

// The one place where Boost.JSON is compiled.
#include <boost/json/src.hpp>

#include <cstddef>

namespace holdfast::cli {

namespace {

// How many bytes the UTF-8 sequence at the beginning has; zero if there is none.
std::size_t sequence_length(std::string_view text) {
    auto const byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    auto const first = byte(0);
    std::size_t const length = first < 0x80                    ? 1
                               : first >= 0xc2 && first < 0xe0 ? 2
                               : first >= 0xe0 && first < 0xf0 ? 3
                               : first >= 0xf0 && first < 0xf5 ? 4
                                                               : 0;
    if (length > text.size()) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0U) != 0x80U) {
            return 0;
        }
    }
    // Longer than need be, a surrogate, or above U+10FFFF.
    bool const wrong =
        length >= 3 && ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
                        (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f));
    return wrong ? 0 : length;
}

}  // namespace

void print_json(std::ostream& out, boost::json::value const& value) {
    auto line = boost::json::serialize(value);
    line += '\n';
    out << line << std::flush;
}

std::string json_text(std::string_view bytes) {
    std::string text;
    while (!bytes.empty()) {
        auto const length = sequence_length(bytes);
        if (length == 0) {
            text += "\xef\xbf\xbd";
            bytes.remove_prefix(1);
        } else {
            text += bytes.substr(0, length);
            bytes.remove_prefix(length);
        }
    }
    return text;
}

}  // namespace holdfast::cli
