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
