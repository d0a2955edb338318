#include "cli/server_texts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <utility>
#include <variant>

namespace holdfast::cli {

namespace {

// The kind of a text in RESP3, which stands before it.
std::string_view without_kind(std::string_view text) {
    constexpr std::string_view label = "txt:";
    return text.starts_with(label) ? text.substr(label.size()) : text;
}

// Takes what comes before the first of `ends`, which goes with it.
std::string_view take_until(std::string_view& rest, std::string_view ends) {
    auto const part = rest.substr(0, rest.find_first_of(ends));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    return part;
}

void add(fields& to, std::string_view pair, char between) {
    auto const at = pair.find(between);
    if (at != std::string_view::npos && !pair.starts_with('#')) {
        to.insert_or_assign(std::string{pair.substr(0, at)}, std::string{pair.substr(at + 1)});
    }
}

// Of a socket servers write `/path:0`, and Valkey 9.1 writes `[/path:0]:0`.
std::string without_port_of_socket(std::string_view address) {
    if (address.starts_with("[/")) {
        address = address.substr(1, address.rfind(']') - 1);
    }
    if (address.starts_with('/') && address.ends_with(":0")) {
        address.remove_suffix(2);
    }
    return std::string{address};
}

// Whether the character is one of the set, which begins behind its `[`. Takes the set.
bool matches_set(std::string_view& pattern, char c) {
    bool const inverted = pattern.starts_with('^');
    bool found = false;
    if (inverted) {
        pattern.remove_prefix(1);
    }
    while (!pattern.empty() && pattern.front() != ']') {
        if (pattern.front() == '\\' && pattern.size() > 1) {
            pattern.remove_prefix(1);
            found = found || pattern.front() == c;
        } else if (pattern.size() > 2 && pattern[1] == '-') {
            auto const [low, high] = std::minmax(pattern[0], pattern[2]);
            found = found || (low <= c && c <= high);
            pattern.remove_prefix(2);
        } else {
            found = found || pattern.front() == c;
        }
        pattern.remove_prefix(1);
    }
    if (!pattern.empty()) {
        pattern.remove_prefix(1);
    }
    return found != inverted;
}

// Takes what one character has to match, and says whether this one does.
bool matches_one(std::string_view& pattern, char c) {
    auto const sign = pattern.front();
    pattern.remove_prefix(1);
    switch (sign) {
        case '?': return true;
        case '[': return matches_set(pattern, c);
        case '\\':
            if (!pattern.empty()) {
                auto const itself = pattern.front();
                pattern.remove_prefix(1);
                return itself == c;
            }
            break;
        default: break;
    }
    return sign == c;
}

}  // namespace

fields read_info(std::string_view text) {
    fields read;
    for (auto rest = without_kind(text); !rest.empty();) {
        auto line = take_until(rest, "\n");
        if (line.ends_with('\r')) {
            line.remove_suffix(1);
        }
        add(read, line, ':');
    }
    return read;
}

std::vector<fields> read_client_list(std::string_view text) {
    std::vector<fields> all;
    for (auto rest = without_kind(text); !rest.empty();) {
        fields read;
        for (auto line = take_until(rest, "\r\n"); !line.empty();) {
            add(read, take_until(line, " "), '=');
        }
        if (auto const at = read.find("addr"); at != read.end()) {
            at->second = without_port_of_socket(at->second);
        }
        if (!read.empty()) {
            all.push_back(std::move(read));
        }
    }
    return all;
}

std::string text_of(detail::reply_value const& value) {
    auto const* const number = std::get_if<std::int64_t>(&value);
    return number ? std::to_string(*number) : std::get<std::string>(value);
}

fields read_pairs(detail::raw_reply const& reply) {
    fields read;
    for (std::size_t i = 0; i + 1 < reply.values.size(); i += 2) {
        read.insert_or_assign(text_of(reply.values[i]), text_of(reply.values[i + 1]));
    }
    return read;
}

std::string_view text_in(
    fields const& of,
    std::string_view name,
    std::string_view otherwise
) noexcept {
    auto const at = of.find(name);
    return at == of.end() ? otherwise : std::string_view{at->second};
}

std::optional<std::int64_t> number_of(detail::raw_reply const& reply) noexcept {
    if (reply.is_error || reply.values.size() != 1) {
        return std::nullopt;
    }
    if (auto const* const number = std::get_if<std::int64_t>(&reply.values.front())) {
        return *number;
    }
    return whole_number<std::int64_t>(reply.text(0));
}

bool matches(std::string_view pattern, std::string_view text) noexcept {
    // Where the last star was: it takes one character more when what follows does not match.
    std::string_view after_star;
    std::string_view from_star;
    bool star = false;
    while (!text.empty()) {
        if (pattern.starts_with('*')) {
            pattern.remove_prefix(1);
            star = true;
            after_star = pattern;
            from_star = text;
        } else if (!pattern.empty() && matches_one(pattern, text.front())) {
            text.remove_prefix(1);
        } else if (star) {
            from_star.remove_prefix(1);
            text = from_star;
            pattern = after_star;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*') == std::string_view::npos;
}

std::string pattern_of(std::string_view text) {
    std::string pattern;
    for (char const c : text) {
        if (std::string_view{"*?[]\\^"}.find(c) != std::string_view::npos) {
            pattern += '\\';
        }
        pattern += c;
    }
    return pattern;
}

}  // namespace holdfast::cli
