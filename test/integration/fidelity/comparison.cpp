#include "fidelity/comparison.hpp"

#include "fidelity/lines.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::test {

using memory::value;

bool fits(value const& server, value const& first, value const& last) {
    if (first == last || server == first || server == last) {
        return server == first || server == last;
    }
    auto const from = to_integer(first);
    auto const to = to_integer(last);
    auto const number = to_integer(server);
    if (from && to && number) {
        auto const [least, most] = std::minmax(*from, *to);
        return server.type == first.type && *number >= least && *number <= most;
    }
    auto const words = words_of(server);
    auto const first_words = words_of(first);
    auto const last_words = words_of(last);
    if (words && first_words && last_words) {
        return fits(*words, *first_words, *last_words);
    }
    bool const alike = server.type == first.type && server.type == last.type &&
                       server.text == first.text && server.text == last.text &&
                       server.elements.size() == first.elements.size() &&
                       server.elements.size() == last.elements.size();
    for (std::size_t i = 0; alike && i < server.elements.size(); ++i) {
        if (!fits(server.elements[i], first.elements[i], last.elements[i])) {
            return false;
        }
    }
    return alike && !server.elements.empty();
}

std::string_view name_of(std::vector<std::string> const& words) {
    for (auto const* const one : holdfast::test::library_scripts()) {
        if (words.size() > 1 && (words[1] == one->sha1 || words[1] == one->text)) {
            return one->name;
        }
    }
    return words[0];
}

std::string shape(value const& message) {
    constexpr std::string_view names[] = {
        "nil",
        "integer",
        "bulk",
        "status",
        "error",
        "array",
        "map",
        "real",
        "verbatim",
        "push",
    };
    std::string text{names[static_cast<std::size_t>(message.type)]};
    if (message.type == value::kind::integer && message.number >= -3 && message.number <= 3) {
        text = std::to_string(message.number);
    }
    if (message.type == value::kind::error) {
        auto const end = std::min(message.text.find_first_of("'0123456789"), message.text.size());
        text += ' ' + message.text.substr(0, std::min(end, message.text.find(" script: ")));
    }
    auto parts = message.elements;
    if (auto line = words_of(message)) {
        // The first word is the nonce, or no particular in any other way.
        parts = std::move(line->elements);
        parts.erase(parts.begin());
        text = "line";
    }
    constexpr std::size_t most = 5;
    for (std::size_t i = 0; i < std::min(most, parts.size()); ++i) {
        text += (i == 0 ? " [" : ", ") + shape(parts[i]);
    }
    return text + (parts.empty() ? "" : "]");
}

std::int64_t microseconds(value const& time) {
    return to_integer(time.elements.at(0)).value() * 1'000'000 +
           to_integer(time.elements.at(1)).value();
}

}  // namespace holdfast::test
