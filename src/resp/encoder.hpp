#ifndef HOLDFAST_RESP_ENCODER_HPP
#define HOLDFAST_RESP_ENCODER_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace holdfast::detail::resp {

/// What is written to a server: one flat buffer.
using byte_buffer = std::vector<char>;

/// Words that are bulk strings already, one behind the other.
struct encoded_words {
    std::string_view bytes;
    std::size_t count = 0;
};

/// One execution of a script.
struct script_call {
    std::string_view text;
    std::string_view sha1;
    /// How many of the words are keys. The keys come first.
    std::size_t keys = 0;
    encoded_words words;
};

/// Appends a word.
void append_word(byte_buffer& to, std::string_view word);
void append_word(byte_buffer& to, std::uint64_t number);

/// Appends a command that consists of these words.
void append_command(byte_buffer& to, std::initializer_list<std::string_view> words);

/// Appends EVALSHA, or EVAL if the server may not know the script. The tag is the last argument:
/// each script returns it as the first word of its reply.
void append_script(byte_buffer& to, script_call const& what, bool by_text, std::uint32_t tag);

}  // namespace holdfast::detail::resp

#endif
