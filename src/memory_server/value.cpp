#include "memory_server/value.hpp"

#include <cstdio>

namespace holdfast::memory {

namespace {

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (char const letter : text) {
        auto const byte = static_cast<unsigned char>(letter);
        if (letter == '"' || letter == '\\') {
            result += '\\';
            result += letter;
        } else if (byte < 0x20 || byte >= 0x7F) {
            char hexadecimal[8];
            std::snprintf(hexadecimal, sizeof hexadecimal, "\\x%02x", byte);
            result += hexadecimal;
        } else {
            result += letter;
        }
    }
    return result + '"';
}

std::string listed(std::vector<value> const& elements, char const* open, char const* close) {
    std::string text = open;
    for (std::size_t i = 0; i < elements.size(); ++i) {
        text += (i > 0 ? ", " : "") + elements[i].describe();
    }
    return text + close;
}

}  // namespace

std::string value::describe() const {
    switch (type) {
        case kind::nil: return "nil";
        case kind::integer: return std::to_string(number);
        case kind::bulk: return quoted(text);
        case kind::status: return "status " + quoted(text);
        case kind::error: return "error " + quoted(text);
        case kind::real: return "real " + text;
        case kind::verbatim: return "verbatim " + quoted(text);
        case kind::array: return listed(elements, "[", "]");
        case kind::map: return listed(elements, "map{", "}");
        case kind::push: return listed(elements, "push[", "]");
    }
    return {};
}

value to_resp2(value message) {
    switch (message.type) {
        case value::kind::map:
        case value::kind::push: message.type = value::kind::array; break;
        case value::kind::real:
        case value::kind::verbatim: message.type = value::kind::bulk; break;
        default: break;
    }
    for (auto& element : message.elements) {
        element = to_resp2(std::move(element));
    }
    return message;
}

}  // namespace holdfast::memory
