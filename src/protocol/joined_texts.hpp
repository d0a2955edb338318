#ifndef HOLDFAST_PROTOCOL_JOINED_TEXTS_HPP
#define HOLDFAST_PROTOCOL_JOINED_TEXTS_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace holdfast::detail {

/// Some texts in one piece of memory, 64 KiB at most. Each lease keeps a target with some, so this
/// is small.
class joined_texts {
public:
    static constexpr std::size_t count = 4;

    joined_texts() = default;
    explicit joined_texts(std::array<std::string, count> const& texts);
    joined_texts(joined_texts const& other);
    joined_texts(joined_texts&&) = default;
    joined_texts& operator=(joined_texts const& other) { return *this = joined_texts{other}; }
    joined_texts& operator=(joined_texts&&) = default;
    ~joined_texts() = default;

    [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
        auto const begin = i == 0 ? 0U : ends_[i - 1];
        return {text_.get() + begin, ends_[i] - std::size_t{begin}};
    }

private:
    std::unique_ptr<char[]> text_;
    std::array<std::uint16_t, count> ends_{};
};

}  // namespace holdfast::detail

#endif
