#ifndef HOLDFAST_LOCK_NAME_HPP
#define HOLDFAST_LOCK_NAME_HPP

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace holdfast {

namespace detail {

/// Whether a format string like this needs an argument for a field that cannot be meant as a Redis
/// hash tag: `{}`, `{0}`, `{:>5}`. In fmt, `{{` stands for a brace.
constexpr bool needs_argument(std::string_view text) noexcept {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '{') {
            continue;
        }
        if (text.substr(i + 1, 1) == "{") {
            ++i;
            continue;
        }
        auto const rest = text.substr(i + 1);
        auto const field = rest.substr(0, rest.find('}'));
        auto const number = field.substr(0, field.find(':'));
        if (field.size() < rest.size() &&
            number.find_first_not_of("0123456789") == std::string_view::npos) {
            return true;
        }
    }
    return false;
}

// Not constexpr: a call of it ends the compilation, and the compiler shows its name.
inline void this_name_of_a_lock_has_a_field_without_an_argument() {}

}  // namespace detail

/// The name of a lock, as `client::lock()` takes it. It refers to the text and does not copy it.
///
/// Braces are a part of the name, and Redis Cluster reads them as a hash tag: `{order:42}:lines`.
///
/// A name has keys besides its own, and no two names may share one. So these are
/// `errc::invalid_name`, with `config::key_prefix` as a part of the name:
/// - a name whose only opening brace is its first byte and whose last byte is a closing one: `{a}`
///   has the queue, the counter and the channel of `a`. Write `a`.
/// - a name that begins as a key of another lock does (`redisson_lock_token:`, `holdfast_queue:`,
///   …).
/// - a name that has a brace and ends in `:timeout`, `:holdfast_limit`, `:rwlock_timeout:` and a
///   number, or the id of a holder (`:<UUID>:<number>`).
/// - `holdfast_server` behind the prefix.
///
/// A literal with a field that fmt would fill in, such as `{}`, `{0}` or `{:>5}`, does not
/// compile: most likely its argument was forgotten, and all calls would share one lock. Such a
/// name can be written as `std::string_view{"…"}`.
///
/// @par Thread safety   A value: distinct objects safe, shared objects safe unless assigned to.
class lock_name {
public:
    /// @{
    /// From a literal, which is checked when the program is compiled, or from a text that is made
    /// at run time.
    ///
    /// @par Errors   None.
    template <std::size_t size>
    consteval lock_name(char const (&literal)[size]) : text_{literal} {
        if (detail::needs_argument(text_)) {
            detail::this_name_of_a_lock_has_a_field_without_an_argument();
        }
    }

    template <std::size_t size>
    constexpr lock_name(char (&buffer)[size]) noexcept : text_{buffer} {}

    template <class Text>
        requires(!std::is_array_v<Text> && std::convertible_to<Text const&, std::string_view>)
    constexpr lock_name(Text const& text) : text_{text} {}
    /// @}

    /// The text.
    [[nodiscard]] constexpr std::string_view view() const noexcept { return text_; }

private:
    std::string_view text_;
};

}  // namespace holdfast

#endif
