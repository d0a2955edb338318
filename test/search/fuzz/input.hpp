#ifndef HOLDFAST_TEST_FUZZ_INPUT_HPP
#define HOLDFAST_TEST_FUZZ_INPUT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace holdfast::fuzz {

/// The fuzzer's bytes, taken from the front as values. What is not there any more is zero, so that
/// every input means something.
class input {
public:
    explicit input(std::span<std::uint8_t const> data) noexcept : bytes_{data} {}

    [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }

    /// Any value of the type.
    template <class T>
    T number() noexcept {
        static_assert(std::is_integral_v<T>);
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            value = value << 8U | byte();
        }
        return static_cast<T>(value);
    }

    /// From 0 up to `end`, which is at least 1 and not reached.
    std::size_t below(std::size_t end) noexcept {
        return (end <= 256 ? number<std::uint8_t>() : number<std::uint32_t>()) % end;
    }

    bool flag() noexcept { return (byte() & 1U) != 0; }

    /// A length, not above `longest`, and that many bytes.
    std::string text(std::size_t longest) {
        auto const wanted = below(longest + 1);
        auto const size = std::min(wanted, bytes_.size());
        std::string const result{view().substr(0, size)};
        bytes_ = bytes_.subspan(size);
        return result;
    }

    /// All that is left.
    std::string_view rest() noexcept {
        auto const result = view();
        bytes_ = {};
        return result;
    }

    template <class T, std::size_t Size>
    T one_of(T const (&choice)[Size]) noexcept {
        return choice[below(Size)];
    }

private:
    [[nodiscard]] std::string_view view() const noexcept {
        return {reinterpret_cast<char const*>(bytes_.data()), bytes_.size()};
    }
    std::uint8_t byte() noexcept {
        if (bytes_.empty()) {
            return 0;
        }
        auto const first = bytes_.front();
        bytes_ = bytes_.subspan(1);
        return first;
    }

    std::span<std::uint8_t const> bytes_;
};

}  // namespace holdfast::fuzz

#endif
