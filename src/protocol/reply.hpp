#ifndef HOLDFAST_PROTOCOL_REPLY_HPP
#define HOLDFAST_PROTOCOL_REPLY_HPP

#include <holdfast/error.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::detail {

/// What a script returned: a line of words with one space between two, of which the first is the
/// nonce of its call. A script makes one text faster than a list.
///
/// The words are counted without the nonce. One that is not there, or is not of the wanted type,
/// reads as the neutral value: a reply that does not look as expected must not stop the client.
class script_reply {
public:
    script_reply() = default;
    explicit script_reply(std::string line) noexcept : line_{std::move(line)} {}

    [[nodiscard]] std::string_view nonce() const noexcept { return word_from(0); }
    [[nodiscard]] std::int64_t integer(std::size_t i, std::int64_t otherwise = 0) const noexcept {
        auto const word = text(i);
        std::int64_t value = 0;
        auto const [end, ec] = std::from_chars(word.data(), word.data() + word.size(), value);
        return ec == std::errc{} && end == word.data() + word.size() ? value : otherwise;
    }
    [[nodiscard]] std::string_view text(std::size_t i) const noexcept {
        return word_from(begin_of(i));
    }
    [[nodiscard]] bool has(std::size_t i) const noexcept { return begin_of(i) < line_.size(); }
    /// From the word to the end of the line: a last value that may have spaces in it.
    [[nodiscard]] std::string_view rest(std::size_t i) const noexcept {
        return std::string_view{line_}.substr(begin_of(i));
    }

private:
    /// The end of the line if there are not so many words.
    [[nodiscard]] std::size_t begin_of(std::size_t i) const noexcept {
        std::size_t at = 0;
        for (++i; i > 0; --i) {
            at = line_.find(' ', at);
            if (at == std::string::npos) {
                return line_.size();
            }
            ++at;
        }
        return at;
    }
    [[nodiscard]] std::string_view word_from(std::size_t at) const noexcept {
        auto const rest = std::string_view{line_}.substr(at);
        return rest.substr(0, rest.find(' '));
    }

    std::string line_;
};

/// What is known about a request when it is over.
enum class exec_status {
    /// The script ran to its end; see the reply.
    replied,
    /// The server answered with an error and did nothing: the cause passes by itself.
    refused,
    /// The server answered with an error that somebody has to mend.
    failed,
    /// Never handed to a connection.
    not_sent,
    /// It may have been executed, or may be later.
    unknown,
    /// It was executed, and what it did may be lost: too few replicas are known to have it.
    unconfirmed,
};

struct exec_result {
    exec_status status = exec_status::unknown;
    /// The cause, unless replied.
    error_code error;
    /// Of `replied`; of `unconfirmed` if there was one.
    script_reply reply;
    /// Refused because the slot of its keys is being moved to another server. A request for one of
    /// the keys alone may be executed meanwhile.
    bool keys_apart = false;
};

}  // namespace holdfast::detail

#endif
