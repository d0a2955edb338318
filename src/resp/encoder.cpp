#include "resp/encoder.hpp"

#include <array>
#include <charconv>

namespace holdfast::detail::resp {

namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::size_t longest_number = 20;  // digits

void append(byte_buffer& to, std::string_view what) {
    to.insert(to.end(), what.begin(), what.end());
}

void append_head(byte_buffer& to, char type, std::size_t size) {
    std::array<char, 1 + longest_number> head;
    head[0] = type;
    auto const* const end =
        std::to_chars(head.data() + 1, head.data() + head.size(), std::uint64_t{size}).ptr;
    append(to, {head.data(), static_cast<std::size_t>(end - head.data())});
    append(to, line_end);
}

}  // namespace

void append_word(byte_buffer& to, std::string_view word) {
    append_head(to, '$', word.size());
    append(to, word);
    append(to, line_end);
}

void append_word(byte_buffer& to, std::uint64_t number) {
    std::array<char, longest_number> digits;
    auto const* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    append_word(to, {digits.data(), static_cast<std::size_t>(end - digits.data())});
}

void append_command(byte_buffer& to, std::initializer_list<std::string_view> words) {
    append_head(to, '*', words.size());
    for (auto const word : words) {
        append_word(to, word);
    }
}

void append_script(byte_buffer& to, script_call const& what, bool by_text, std::uint32_t tag) {
    constexpr std::size_t own_words = 4;  // the command, the script, the number of keys, the tag
    auto const script = by_text ? what.text : what.sha1;
    append_head(to, '*', own_words + what.words.count);
    append_word(to, by_text ? std::string_view{"EVAL"} : std::string_view{"EVALSHA"});
    append_word(to, script);
    append_word(to, std::uint64_t{what.keys});
    append(to, what.words.bytes);
    append_word(to, std::uint64_t{tag});
}

}  // namespace holdfast::detail::resp
