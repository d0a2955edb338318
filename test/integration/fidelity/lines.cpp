#include "fidelity/lines.hpp"

#include <charconv>
#include <string_view>

namespace holdfast::test {

using memory::value;

std::optional<std::int64_t> to_integer(value const& one) {
    if (one.type == value::kind::integer) {
        return one.number;
    }
    std::int64_t number = 0;
    auto const* const end = one.text.data() + one.text.size();
    auto const [stopped, error] = std::from_chars(one.text.data(), end, number);
    bool const whole = one.type == value::kind::bulk && error == std::errc{} && stopped == end;
    return whole ? std::optional{number} : std::nullopt;
}

std::optional<value> words_of(value const& line) {
    if (line.type != value::kind::bulk || line.text.find(' ') == std::string::npos) {
        return {};
    }
    auto words = value::array();
    std::string_view rest = line.text;
    for (bool more = true; more;) {
        auto const space = rest.find(' ');
        more = space != std::string_view::npos;
        auto const word = value::bulk(rest.substr(0, space));
        auto const number = to_integer(word);
        words.elements.push_back(number ? value::integer(*number) : word);
        rest.remove_prefix(more ? space + 1 : rest.size());
    }
    return words;
}

}  // namespace holdfast::test
