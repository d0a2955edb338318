#include "fuzz/url_parts.hpp"

#include <strings.h>

#include <algorithm>
#include <cstddef>

namespace holdfast::fuzz {

namespace {

bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace

bool is_unix(std::string_view text) {
    return text.size() >= 5 && strncasecmp(text.data(), "unix:", 5) == 0;
}

// A path is all that can follow for a socket, so that there a question mark is one of the password.
std::string_view authority_in(std::string_view text) {
    auto const separator = text.find("://");
    if (separator == std::string_view::npos) {
        return {};
    }
    auto const rest = text.substr(separator + 3);
    return rest.substr(0, rest.find_first_of(is_unix(text) ? "/" : "/?"));
}

std::string_view password_in(std::string_view text) {
    auto const authority = authority_in(text);
    auto const at = authority.rfind('@');
    auto const colon = authority.find(':');
    if (at == std::string_view::npos || colon == std::string_view::npos || colon > at) {
        return {};
    }
    return authority.substr(colon + 1, at - colon - 1);
}

std::string_view port_in(std::string_view text) {
    auto const authority = authority_in(text);
    auto const colon = authority.rfind(':');
    auto const before = authority.find_last_of("@]");
    if (colon == std::string_view::npos || (before != std::string_view::npos && before > colon)) {
        return {};
    }
    return authority.substr(colon + 1);
}

std::string_view without_leading_zeros(std::string_view number) {
    number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
    return number;
}

bool is_percent_encoded(std::string_view text) {
    for (auto at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
        if (at + 2 >= text.size() || !is_hex(text[at + 1]) || !is_hex(text[at + 2])) {
            return false;
        }
    }
    return true;
}

}  // namespace holdfast::fuzz
