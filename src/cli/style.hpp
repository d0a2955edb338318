#ifndef HOLDFAST_CLI_STYLE_HPP
#define HOLDFAST_CLI_STYLE_HPP

#include <string>
#include <string_view>

namespace holdfast::cli {

/// When output has colours.
enum class colour_mode { automatic, always, never };

/// Colours of a terminal, or none. Text comes back unchanged where there are none.
class style {
public:
    /// Without colours.
    style() noexcept = default;
    explicit style(bool coloured) noexcept : coloured_{coloured} {}
    /// For the output behind a descriptor. `automatic` means colours on a terminal that has them,
    /// unless the environment has a NO_COLOR that is not empty.
    static style of(int descriptor, colour_mode mode);

    [[nodiscard]] bool coloured() const noexcept { return coloured_; }
    [[nodiscard]] std::string good(std::string_view text) const { return painted("32", text); }
    [[nodiscard]] std::string warning(std::string_view text) const { return painted("33", text); }
    [[nodiscard]] std::string bad(std::string_view text) const { return painted("31", text); }
    [[nodiscard]] std::string strong(std::string_view text) const { return painted("1", text); }
    [[nodiscard]] std::string faint(std::string_view text) const { return painted("2", text); }

private:
    [[nodiscard]] std::string painted(std::string_view code, std::string_view text) const;

    bool coloured_ = false;
};

}  // namespace holdfast::cli

#endif
