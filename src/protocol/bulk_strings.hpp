#ifndef HOLDFAST_PROTOCOL_BULK_STRINGS_HPP
#define HOLDFAST_PROTOCOL_BULK_STRINGS_HPP

#include <boost/container/small_vector.hpp>
#include <boost/container/vector.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace holdfast::detail {

/// Words in the form in which Redis is sent them: one bulk string of RESP behind the other. So they
/// are written once, and copied as they are into each request that has them.
class bulk_strings {
public:
    /// Room for so many words of so many bytes in all.
    void reserve(std::size_t words, std::size_t bytes) {
        places_.reserve(words);
        bytes_.reserve(bytes + words * usual_frame);
    }

    void add(std::string_view word) {
        std::array<char, longest_head> head;
        head[0] = '$';
        auto* to = std::to_chars(head.data() + 1, head.data() + head.size(), word.size()).ptr;
        *to++ = '\r';
        *to++ = '\n';
        auto const head_size = static_cast<std::size_t>(to - head.data());
        auto const before = bytes_.size();
        auto const begin = before + head_size;
        bytes_.resize(begin + word.size() + end.size(), boost::container::default_init);
        std::memcpy(bytes_.data() + before, head.data(), head_size);
        if (!word.empty()) {
            std::memcpy(bytes_.data() + begin, word.data(), word.size());
        }
        std::memcpy(bytes_.data() + begin + word.size(), end.data(), end.size());
        places_.push_back(
            {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(begin + word.size())}
        );
    }
    void add(std::int64_t number) { add_number(number); }
    void add(std::uint64_t number) { add_number(number); }

    void clear() noexcept {
        bytes_.clear();
        places_.clear();
    }

    [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }
    [[nodiscard]] std::string_view word(std::size_t i) const noexcept {
        auto const [begin, end_of_it] = places_[i];
        return {bytes_.data() + begin, end_of_it - begin};
    }
    /// The bulk string that the word is in.
    [[nodiscard]] std::string_view bulk_string(std::size_t i) const noexcept {
        auto const begin = i == 0 ? 0U : places_[i - 1].end + end.size();
        return {bytes_.data() + begin, places_[i].end + end.size() - begin};
    }
    /// The bulk strings of all words.
    [[nodiscard]] std::string_view bytes() const noexcept { return {bytes_.data(), bytes_.size()}; }

private:
    struct place {
        std::uint32_t begin;
        std::uint32_t end;
    };

    // Of a word that is no longer than 99 bytes.
    static constexpr std::size_t usual_frame = 7;
    // '$', a length and the end of the line.
    static constexpr std::size_t longest_head = 23;
    static constexpr std::string_view end = "\r\n";

    template <class Number>
    void add_number(Number value) {
        std::array<char, 20> digits;
        auto const* const last =
            std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        add(std::string_view{digits.data(), static_cast<std::size_t>(last - digits.data())});
    }

    boost::container::vector<char> bytes_;
    boost::container::small_vector<place, 12> places_;
};

}  // namespace holdfast::detail

#endif
