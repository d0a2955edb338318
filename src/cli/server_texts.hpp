#ifndef HOLDFAST_CLI_SERVER_TEXTS_HPP
#define HOLDFAST_CLI_SERVER_TEXTS_HPP

#include "redis/replies.hpp"

#include <charconv>
#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// What a server says in words of its own: a name, and a value.
using fields = std::map<std::string, std::string, std::less<>>;

/// The text of INFO or CLUSTER INFO: `name:value` a line.
[[nodiscard]] fields read_info(std::string_view text);
/// The text of CLIENT LIST: a client a line, `name=value` a word. The address of a client at a UNIX
/// socket is the socket's path.
[[nodiscard]] std::vector<fields> read_client_list(std::string_view text);
/// A reply of names and values in turn: CONFIG GET, PUBSUB NUMSUB.
[[nodiscard]] fields read_pairs(detail::raw_reply const& reply);

/// A value as it was said, `otherwise` where nothing was.
[[nodiscard]] std::string_view text_in(
    fields const& of,
    std::string_view name,
    std::string_view otherwise = {}
) noexcept;

/// A text that is a number and nothing else.
template <std::integral Number>
[[nodiscard]] std::optional<Number> whole_number(std::string_view text) noexcept {
    Number number{};
    auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), number);
    bool const whole = ec == std::errc{} && end == text.data() + text.size();
    return whole ? std::optional{number} : std::nullopt;
}
template <std::integral Number>
[[nodiscard]] std::optional<Number> number_in(fields const& of, std::string_view name) noexcept {
    return whole_number<Number>(text_in(of, name));
}

/// Zero where there is no such number.
[[nodiscard]] inline std::uint64_t count_of(fields const& of, std::string_view name) noexcept {
    return number_in<std::uint64_t>(of, name).value_or(0);
}

/// The reply as a whole number, whether it came as one or as text.
[[nodiscard]] std::optional<std::int64_t> number_of(detail::raw_reply const& reply) noexcept;
/// A value of a reply as text, whatever it came as.
[[nodiscard]] std::string text_of(detail::reply_value const& value);

/// A pattern of Redis that matches this text and no other.
[[nodiscard]] std::string pattern_of(std::string_view text);

}  // namespace holdfast::cli

#endif
