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
        size_ = client_id.copy(text_.data(), client_id_length);
        text_[size_++] = ':';
        auto const number = random >> 1U;
        size_ = static_cast<std::size_t>(
            std::to_chars(text_.data() + size_, text_.data() + text_.size(), number).ptr -
            text_.data()
        );
    }

    [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), size_}; }

private:
    std::array<char, client_id_length + 1 + 20> text_{};
    std::size_t size_ = 0;
};

}  // namespace holdfast::detail

#endif
