#include "resp.hpp"

#include <charconv>
#include <stdexcept>

namespace holdfast::test {

namespace {

constexpr std::string_view line_end = "\r\n";

std::int64_t to_integer(std::string_view text) {
    std::int64_t number = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) {
        throw std::runtime_error{"not a number in RESP: " + std::string{text}};
    }
    return number;
}

[[noreturn]] void wrong_kind(char const* wanted, redis_value const& value) {
    throw std::runtime_error{std::string{"expected "} + wanted + ", got " + value.describe()};
}

// `count` messages that follow `header` bytes; 0 while the last is incomplete.
std::size_t sequence_size(std::string_view bytes, std::size_t header, std::int64_t count) {
    auto size = header;
    for (std::int64_t i = 0; i < count; ++i) {
        auto const next = message_size(bytes.substr(size));
        if (next == 0) {
            return 0;
        }
        size += next;
    }
    return size;
}

}  // namespace

std::size_t message_size(std::string_view bytes) {
    if (bytes.empty()) {
        return 0;
    }
    constexpr std::string_view types = "+-:_,#($!=*~>%|";
    if (types.find(bytes.front()) == std::string_view::npos) {
        throw std::runtime_error{"not RESP"};
    }
    auto const end = bytes.find(line_end);
    if (end == std::string_view::npos) {
        return 0;
    }
    auto const header = end + line_end.size();
    auto const argument = bytes.substr(1, end - 1);
    switch (bytes.front()) {
        case '$':
        case '!':
        case '=': {
            auto const length = to_integer(argument);
            auto const size =
                length < 0 ? header : header + static_cast<std::size_t>(length) + line_end.size();
            return size <= bytes.size() ? size : 0;
        }
        case '*':
        case '~':
        case '>': return sequence_size(bytes, header, to_integer(argument));
        case '%': return sequence_size(bytes, header, 2 * to_integer(argument));
        case '|':  // attributes belong to the message after them
            return sequence_size(bytes, header, 2 * to_integer(argument) + 1);
        default: return header;
    }
}

redis_value parse_message(std::string_view& bytes) {
    auto const end = bytes.find(line_end);
    if (bytes.empty() || end == std::string_view::npos) {
        throw std::runtime_error{"incomplete RESP message"};
    }
    char const type = bytes.front();
    std::string const argument{bytes.substr(1, end - 1)};
    bytes.remove_prefix(end + line_end.size());

    using kind = redis_value::kind;
    switch (type) {
        case '+': return {.type = kind::string, .text = argument};
        case '-': return {.type = kind::error, .text = argument};
        case ':': return {.type = kind::integer, .number = to_integer(argument)};
        case '$': {
            auto const length = to_integer(argument);
            if (length < 0) {
                return {};
            }
            auto const size = static_cast<std::size_t>(length);
            redis_value value{.type = kind::string, .text = std::string{bytes.substr(0, size)}};
            bytes.remove_prefix(size + line_end.size());
            return value;
        }
        case '*': {
            auto const count = to_integer(argument);
            if (count < 0) {
                return {};
            }
            redis_value value{.type = kind::array};
            for (std::int64_t i = 0; i < count; ++i) {
                value.elements.push_back(parse_message(bytes));
            }
            return value;
        }
        default: throw std::runtime_error{std::string{"unexpected RESP type "} + type};
    }
}

std::string serialize_command(std::vector<std::string> const& words) {
    auto bytes = "*" + std::to_string(words.size()) + "\r\n";
    for (auto const& word : words) {
        bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
    }
    return bytes;
}

std::int64_t redis_value::as_integer() const {
    if (type != kind::integer) {
        wrong_kind("an integer", *this);
    }
    return number;
}

std::string const& redis_value::as_string() const {
    if (type != kind::string) {
        wrong_kind("a string", *this);
    }
    return text;
}

std::vector<redis_value> const& redis_value::as_array() const {
    if (type != kind::array) {
        wrong_kind("an array", *this);
    }
    return elements;
}

std::string redis_value::describe() const {
    switch (type) {
        case kind::nil: return "nil";
        case kind::integer: return std::to_string(number);
        case kind::string: return '"' + text + '"';
        case kind::error: return "error " + text;
        case kind::array: break;
    }
    std::string list = "[";
    for (auto const& element : elements) {
        list += (list.size() > 1 ? ", " : "") + element.describe();
    }
    return list + "]";
}

}  // namespace holdfast::test
