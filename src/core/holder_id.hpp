#ifndef HOLDFAST_CORE_HOLDER_ID_HPP
#define HOLDFAST_CORE_HOLDER_ID_HPP

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::detail {

/// `<client id>:<decimal>`, made anew for each acquisition. The shape is Redisson's, where the
/// number is a positive Java `long`.
class holder_id {
public:
    static constexpr std::size_t client_id_length = 36;

    holder_id(std::string_view client_id, std::uint64_t random) noexcept {
        auto const colon = client_id.copy(text_.data(), client_id_length);
        text_[colon] = ':';
        digits_at_ = static_cast<std::uint8_t>(colon + 1);
        auto const number = random >> 1U;
        auto* const end =
            std::to_chars(text_.data() + digits_at_, text_.data() + text_.size(), number).ptr;
        size_ = static_cast<std::uint8_t>(end - text_.data());
    }

    /// The one that has this number.
    [[nodiscard]] static holder_id of_number(
        std::string_view client_id,
        std::uint64_t number
    ) noexcept {
        return {client_id, number << 1U};
    }

    [[nodiscard]] std::uint64_t number() const noexcept {
        std::uint64_t number = 0;
        std::from_chars(text_.data() + digits_at_, text_.data() + size_, number);
        return number;
    }
    [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), size_}; }

private:
    std::array<char, client_id_length + 1 + 20> text_{};
    std::uint8_t digits_at_ = 0;
    std::uint8_t size_ = 0;
};

}  // namespace holdfast::detail

#endif
